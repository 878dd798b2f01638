package nothingbutthetruth

import (
	"slices"

	"umpire/pkg/match"
)

// bot plays a random legal submission, for the host too. As the host it mostly finds one answer right and the other
// wrong, so that its matches end.
func bot(v *match.View, t *table, pick func(int) int) any {
	if t.Host != nil {
		return hostBot(v, t, pick)
	}
	switch h := t.You.Hints; {
	case h.Order != nil:
		return map[string]any{"type": order, "order": shuffled(h.Order, pick)}
	case h.Place != nil:
		return map[string]any{"type": place, "cells": shuffled(h.Place.Cells, pick)[:pick(h.Place.Most+1)]}
	case h.Bid != nil:
		return map[string]any{"type": bid, "coins": pick(min(h.Bid.Most, 5) + 1)}
	case h.Shift != nil:
		return shiftBot(h.Shift, pick)
	default:
		return map[string]any{"type": answer, "text": []string{"yes", "no", "", "perhaps"}[pick(4)]}
	}
}

func shiftBot(h *shiftHint, pick func(int) int) any {
	if pick(5) == 0 {
		return map[string]any{"type": decline}
	}
	m := map[string]any{"type": shift, "direction": h.Directions[pick(len(h.Directions))], "anchor": nil}
	if len(h.Anchors) > 0 && pick(2) == 0 {
		m["anchor"] = h.Anchors[pick(len(h.Anchors))]
	}
	return m
}

func hostBot(v *match.View, t *table, pick func(int) int) any {
	if v.Phase.Name == ask {
		return map[string]any{"type": ask, "question": "Is it so?"}
	}
	right := []string{}
	for _, p := range v.Players {
		if given := t.Host.Answers[p.ID]; given != nil && *given != "" && pick(2) == 0 {
			right = append(right, p.ID)
		}
	}
	return map[string]any{"type": judge, "right": right}
}

// shuffled returns a copy of the list in a random order.
func shuffled(list []string, pick func(int) int) []string {
	list = slices.Clone(list)
	for i := len(list) - 1; i > 0; i-- {
		j := pick(i + 1)
		list[i], list[j] = list[j], list[i]
	}
	return list
}
