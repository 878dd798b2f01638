package token_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/token"
)

const matchID = "abcdefghijklmnop"

var (
	noon     = time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)
	adas     = token.Token{Role: token.Seat, Match: matchID, Seat: "ada", Issue: 1}
	operator = token.Token{Role: token.Operator}
	// life is how long a seat's token is good for, as the package has it.
	life = 2 * 365 * 24 * time.Hour
)

// vault is an installation's; different bytes are different installations.
func vault(t *testing.T, b byte) *event.Vault {
	t.Helper()
	v, err := event.NewVault(bytes.Repeat([]byte{b}, event.MasterKeySize))
	require.NoError(t, err)
	return v
}

func authority(t *testing.T, b byte) *token.Authority {
	t.Helper()
	return token.NewAuthority(vault(t, b))
}

func sign(t *testing.T, a *token.Authority, tok token.Token) string {
	t.Helper()
	signed, err := a.Sign(tok, noon)
	require.NoError(t, err)
	return signed
}

// refused demands ErrInvalid, word for word: nothing of a token or claim stands in it.
func refused(t *testing.T, got token.Token, err error, what string) {
	t.Helper()
	require.ErrorIs(t, err, token.ErrInvalid, what)
	assert.Equal(t, token.ErrInvalid.Error(), err.Error(), what)
	assert.Zero(t, got, what)
}

func TestWhatIsSignedIsRead(t *testing.T) {
	t.Parallel()
	a, again := authority(t, 1), authority(t, 1)
	for name, want := range map[string]token.Token{
		"an operator": operator, "a player": adas,
		"a first link": {Role: token.Seat, Match: matchID, Seat: "bob"},
		"a host":       {Role: token.Seat, Match: matchID, Seat: "host", Issue: 12},
	} {
		signed := sign(t, a, want)
		for range 2 { // the second time from what was seen before
			got, err := a.Verify(signed, noon)
			require.NoError(t, err, name)
			assert.Equal(t, want, got, name)
		}
		got, err := again.Verify(signed, noon)
		require.NoError(t, err, "%s: the same installation, started anew", name)
		assert.Equal(t, want, got, name)
	}
}

func TestATokenExpires(t *testing.T) {
	t.Parallel()
	seen := authority(t, 1)
	signed := sign(t, seen, adas)
	last := noon.Add(life - time.Second)
	got, err := seen.Verify(signed, last)
	require.NoError(t, err)
	assert.Equal(t, adas, got)
	for name, a := range map[string]*token.Authority{"seen before": seen, "never seen": authority(t, 1)} {
		for _, after := range []time.Duration{0, time.Hour, 100 * life} {
			got, err := a.Verify(signed, noon.Add(life+after))
			refused(t, got, err, name)
		}
		_, err := a.Verify(signed, last)
		require.NoError(t, err, "%s: it was good until then", name)
	}
	forever := sign(t, seen, operator)
	got, err = seen.Verify(forever, noon.Add(50*life))
	require.NoError(t, err, "an operator's does not expire")
	assert.Equal(t, operator, got)
}

// TestForgedTokens tries what libraries have fallen for.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	a := authority(t, 1)
	own := ed25519.NewKeyFromSeed(vault(t, 1).Derive("tokens"))
	public, ok := own.Public().(ed25519.PublicKey)
	require.True(t, ok)
	forger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	claims := func(issuer string) jwt.MapClaims {
		return jwt.MapClaims{"iss": issuer, "role": "operator"}
	}
	with := func(method jwt.SigningMethod, key any, c jwt.Claims) string {
		signed, err := jwt.NewWithClaims(method, c).SignedString(key)
		require.NoError(t, err)
		return signed
	}
	genuine := sign(t, a, adas)
	head, rest, _ := strings.Cut(genuine, ".")
	body, signature, _ := strings.Cut(rest, ".")
	operators := strings.Split(sign(t, a, operator), ".")
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + operators[1] + "."
	_, err := a.Verify(with(jwt.SigningMethodEdDSA, own, claims("umpire")), noon)
	require.NoError(t, err, "what the others differ from")
	for name, signed := range map[string]string{
		"nothing": "", "a word": "token", "dots": "..", "four parts": genuine + ".x",
		"no signature":                 head + "." + body + ".",
		"another's body":               head + "." + operators[1] + "." + signature,
		"another's signature":          head + "." + body + "." + operators[2],
		"a space before":               " " + genuine,
		"a space behind":               genuine + " ",
		"a line behind":                genuine + "\n",
		"padding":                      genuine + "==",
		"its scheme":                   "Bearer " + genuine,
		"another installation":         sign(t, authority(t, 2), adas),
		"another key":                  with(jwt.SigningMethodEdDSA, forger, claims("umpire")),
		"alg none":                     with(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims("umpire")),
		"alg none of a genuine one":    unsigned,
		"HS256 with the public key":    with(jwt.SigningMethodHS256, []byte(public), claims("umpire")),
		"HS256 with the private key":   with(jwt.SigningMethodHS256, []byte(own), claims("umpire")),
		"HS512 with nothing":           with(jwt.SigningMethodHS512, []byte{}, claims("umpire")),
		"another issuer":               with(jwt.SigningMethodEdDSA, own, claims("umpires")),
		"no issuer":                    with(jwt.SigningMethodEdDSA, own, jwt.MapClaims{"role": "operator"}),
		"a role that is a number":      with(jwt.SigningMethodEdDSA, own, jwt.MapClaims{"iss": "umpire", "role": 1}),
		"a body that is no JSON":       head + "." + base64.RawURLEncoding.EncodeToString([]byte("{")) + "." + signature,
		"over-long, with no structure": strings.Repeat("x", 1<<20),
	} {
		got, err := a.Verify(signed, noon)
		refused(t, got, err, name)
	}
}

// TestAlteredTokens cuts a token everywhere and changes each of its characters.
func TestAlteredTokens(t *testing.T) {
	t.Parallel()
	a := authority(t, 1)
	genuine := sign(t, a, adas)
	for i := range genuine {
		got, err := a.Verify(genuine[:i], noon)
		refused(t, got, err, "cut")
		for _, c := range "Aw." {
			altered := genuine[:i] + string(c) + genuine[i+1:]
			if altered == genuine {
				continue
			}
			got, err := a.Verify(altered, noon)
			refused(t, got, err, "altered")
		}
	}
	// The last character of a signature has bits that stand for nothing.
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
		if altered := genuine[:len(genuine)-1] + string(c); altered != genuine {
			got, err := a.Verify(altered, noon)
			refused(t, got, err, "its last bits")
		}
	}
}

func TestClaimsAreReadBack(t *testing.T) {
	t.Parallel()
	a := authority(t, 1)
	for _, want := range []token.Token{
		adas, {Role: token.Seat, Match: matchID, Seat: "host"}, {Role: token.Seat, Match: matchID, Seat: "a-1", Issue: 999},
	} {
		claim := a.Claim(want.Match, want.Seat, want.Issue)
		got, err := a.ReadClaim(claim)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, claim, authority(t, 1).Claim(want.Match, want.Seat, want.Issue), "nothing is stored")
	}
}

func TestForgedClaims(t *testing.T) {
	t.Parallel()
	a := authority(t, 1)
	genuine := a.Claim(matchID, "ada", 0)
	parts := strings.Split(genuine, ".")
	mac := parts[3]
	for name, claim := range map[string]string{
		"nothing": "", "a word": "claim", "dots": "...", "no MAC": matchID + ".ada.0.",
		"another seat":         matchID + ".bob.0." + mac,
		"the host's seat":      matchID + ".host.0." + mac,
		"another match":        "qrstuvwxyzabcdef.ada.0." + mac,
		"another issue":        matchID + ".ada.1." + mac,
		"no number":            matchID + ".ada.x." + mac,
		"no issue":             matchID + ".ada.." + mac,
		"a number otherwise":   matchID + ".ada.00." + mac,
		"a number with a sign": matchID + ".ada.+0." + mac,
		"less than nothing":    matchID + ".ada.-0." + mac,
		"an endless number":    matchID + ".ada." + strings.Repeat("9", 60) + "." + mac,
		"in capitals":          matchID + ".ada.0." + strings.ToUpper(mac),
		"something behind":     genuine + "0",
		"a fifth part":         genuine + ".x",
		"a space before":       " " + genuine,
		"another installation": authority(t, 2).Claim(matchID, "ada", 0),
		"moved dots":           matchID + "." + "ad" + ".a0." + mac,
		"over-long":            matchID + "." + strings.Repeat("a", 1<<20) + ".0." + mac,
	} {
		got, err := a.ReadClaim(claim)
		refused(t, got, err, name)
	}
	for i := range genuine {
		got, err := a.ReadClaim(genuine[:i])
		refused(t, got, err, "cut")
	}
	got, err := a.Verify(genuine, noon)
	refused(t, got, err, "a claim is no token")
	got, err = a.ReadClaim(sign(t, a, adas))
	refused(t, got, err, "a token is no claim")
}

func TestManyVerifyAtOnce(t *testing.T) {
	t.Parallel()
	a := authority(t, 1)
	tokens := make([]token.Token, 8)
	signed := make([]string, len(tokens))
	for i := range tokens {
		tokens[i] = token.Token{Role: token.Seat, Match: matchID, Seat: "ada", Issue: i}
		signed[i] = sign(t, a, tokens[i])
	}
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 64 {
				at := (worker + i) % len(tokens)
				got, err := a.Verify(signed[at], noon)
				if assert.NoError(t, err) {
					assert.Equal(t, tokens[at], got)
				}
				_, err = a.Verify(signed[at][1:], noon)
				assert.ErrorIs(t, err, token.ErrInvalid)
			}
		})
	}
	all.Wait()
}
