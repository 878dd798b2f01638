package paintclash

import "umpire/pkg/match"

// bot plays a random legal submission. It swims where it can about as often as it walks.
func bot(v *match.View, t *table, pick func(int) int) any {
	h := t.You.Hints
	switch v.Phase.Name {
	case team:
		bid := pick(int(min(*h.MostBid, 1<<30)) + 1)
		return map[string]any{"type": team, "color": h.Colors[pick(len(h.Colors))], "bid": bid}
	case start:
		return map[string]any{"type": start, "cell": h.Cells[pick(len(h.Cells))]}
	case round:
		mode, ends := walk, h.Walk
		if len(h.Squid) > 0 && pick(2) == 0 {
			mode, ends = squid, h.Squid
		}
		gun := h.Guns[pick(len(h.Guns))]
		aim := gun.Aims[pick(len(gun.Aims))]
		return map[string]any{
			"type": round,
			"move": map[string]any{"mode": mode, "to": ends[pick(len(ends))]},
			"shot": map[string]any{"gun": gun.Gun, "direction": aim.Direction},
		}
	default:
		return map[string]any{"type": v.Phase.Name, "player": h.Players[pick(len(h.Players))]}
	}
}
