// Package token says who may do what. A claim is the one-use secret in a player's link; a token is what it is exchanged
// for. Neither is stored anywhere: a claim is an HMAC under a secret of its match, a token is signed (EdDSA JWT), both
// with keys derived from the installation's master key, and the log says which claims have been used.
package token

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	lru "github.com/hashicorp/golang-lru/v2"

	"umpire/pkg/event"
)

// ErrInvalid means that a token or claim is none of ours, was altered, or has expired.
var ErrInvalid = errors.New("the token or claim is not valid")

// Role says what the bearer of a token is.
type Role string

// The roles of bearers.
const (
	Operator Role = "operator" // may create matches and control all of them
	Seat     Role = "seat"     // holds a player's seat or the host's in one match
)

// Token is what a verified token says.
type Token struct {
	Role  Role
	Match string // of a seat
	Seat  string // a player's id, or "host"
	Issue int    // the number of the seat's link; a token of an earlier link is void
}

const issuer = "umpire"

// life is how long a seat's token is good for; no match may last longer.
const life = 2 * 365 * 24 * time.Hour

type claims struct {
	jwt.RegisteredClaims
	Role  Role   `json:"role"`
	Match string `json:"match,omitempty"`
	Issue int    `json:"issue,omitempty"`
}

// Authority signs and verifies. It is safe for concurrent use.
type Authority struct {
	vault  *event.Vault
	key    ed25519.PrivateKey
	parser *jwt.Parser
	seen   *lru.Cache[[sha256.Size]byte, verified]
}

// verified is a token whose signature has been checked, so that only its time need be checked again.
type verified struct {
	token   Token
	expires time.Time // zero: never
}

// seenSize bounds the cache of verified tokens.
const seenSize = 16384

// NewAuthority returns the authority of an installation.
func NewAuthority(vault *event.Vault) *Authority {
	seen, err := lru.New[[sha256.Size]byte, verified](seenSize)
	if err != nil {
		panic(err) // the size is above zero
	}
	return &Authority{
		vault: vault,
		key:   ed25519.NewKeyFromSeed(vault.Derive("tokens")),
		parser: jwt.NewParser(jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithIssuer(issuer),
			jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation()),
		seen: seen,
	}
}

// Sign returns a signed token; an operator's does not expire.
func (a *Authority) Sign(t Token, now time.Time) (string, error) {
	c := claims{Role: t.Role, Match: t.Match, Issue: t.Issue}
	c.Issuer, c.Subject, c.IssuedAt = issuer, t.Seat, jwt.NewNumericDate(now)
	if t.Role != Operator {
		c.ExpiresAt = jwt.NewNumericDate(now.Add(life))
	}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodEdDSA, c).SignedString(a.key)
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return signed, nil
}

// Verify returns what a token says. The error is ErrInvalid and never quotes the token.
func (a *Authority) Verify(signed string, now time.Time) (Token, error) {
	key := sha256.Sum256([]byte(signed))
	v, ok := a.seen.Get(key)
	if !ok {
		var err error
		if v, err = a.parse(signed); err != nil {
			return Token{}, err
		}
		a.seen.Add(key, v)
	}
	if !v.expires.IsZero() && !now.Before(v.expires) {
		return Token{}, ErrInvalid
	}
	return v.token, nil
}

func (a *Authority) parse(signed string) (verified, error) {
	if strings.ContainsAny(signed, "\r\n") { // base64 passes over them
		return verified{}, ErrInvalid
	}
	var c claims
	_, err := a.parser.ParseWithClaims(signed, &c, func(*jwt.Token) (any, error) { return a.key.Public(), nil })
	if err != nil || c.Issuer != issuer {
		return verified{}, ErrInvalid
	}
	v := verified{token: Token{Role: c.Role, Match: c.Match, Seat: c.Subject, Issue: c.Issue}}
	if c.ExpiresAt != nil {
		v.expires = c.ExpiresAt.Time
	}
	return v, nil
}

// Claim returns the secret of a seat's link: match, seat and issue, and an HMAC of them.
func (a *Authority) Claim(match, seat string, issue int) string {
	return match + "." + seat + "." + strconv.Itoa(issue) + "." + a.claimMAC(match, seat, issue)
}

func (a *Authority) claimMAC(match, seat string, issue int) string {
	mac := a.vault.Keys("claims-"+match).MAC("claim", seat, strconv.Itoa(issue))
	return hex.EncodeToString(mac[:16])
}

// ReadClaim returns the seat that a claim is for. Whether it has been used, the log says. The error is ErrInvalid.
func (a *Authority) ReadClaim(claim string) (Token, error) {
	parts := strings.Split(claim, ".")
	if len(claim) > 200 || len(parts) != 4 {
		return Token{}, ErrInvalid
	}
	issue, err := strconv.Atoi(parts[2])
	if err != nil {
		return Token{}, ErrInvalid
	}
	want := a.Claim(parts[0], parts[1], issue)
	if subtle.ConstantTimeCompare([]byte(want), []byte(claim)) != 1 {
		return Token{}, ErrInvalid
	}
	return Token{Role: Seat, Match: parts[0], Seat: parts[1], Issue: issue}, nil
}
