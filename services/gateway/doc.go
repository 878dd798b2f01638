// Package gateway is the service that people and programs reach: the HTTP API, Server-Sent Events and the plain pages.
// It holds no match and decides nothing: it carries calls to the services over NATS and their answers back.
//
// The OpenAPI document comes first; the routes and their parameters are generated from it.
package gateway

//go:generate go tool oapi-codegen -config generate.yaml openapi.yaml
