package glassfull

import "umpire/pkg/match"

// bot plays a random legal submission. It challenges mostly where the tank may be full, so that its matches end.
func bot(_ *match.View, t *table, pick func(int) int) any {
	h := t.You.Hints
	if len(h.Pick) > 0 {
		return map[string]any{"type": pickStarter, "player": h.Pick[pick(len(h.Pick))]}
	}
	odds := 20
	if len(t.Marks) == 4 {
		odds = 4
	}
	switch {
	case pick(odds) == 0:
		return map[string]any{"type": challenge}
	case h.Sponge && pick(3) == 0:
		return map[string]any{"type": sponge}
	}
	return map[string]any{"type": add, "cups": h.Add[pick(len(h.Add))]}
}
