// The OpenAPI 3.1 document of the routes, from their zod schemas.

import type { RouteOptions } from 'fastify'
import { z } from 'zod'
import { PROBLEM_TYPE } from '../plugins/problem.ts'
import { scopeOf } from '../plugins/token-scopes.ts'

type Json = Record<string, unknown>

/** Describes the routes in the order of their registration. */
export function describeApi(options: { routes: RouteOptions[]; publicUrl: string; version: string }): Json {
  const { routes, publicUrl, version } = options
  const schemas: Json = { Problem: problemSchema }
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)(?:\([^)]*\))?/g, '{$1}')
    const described = [route.method].flat().map((method) => [method.toLowerCase(), operation(route, schemas)] as const)
    paths[path] = { ...paths[path], ...Object.fromEntries(described) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Vireo REST API',
      version,
      license: { name: 'AGPL-3.0-or-later', identifier: 'AGPL-3.0-or-later' },
    },
    servers: [{ url: publicUrl }],
    paths,
    components: { schemas, securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  }
}

function operation(route: RouteOptions, schemas: Json): Json {
  const { schema = {}, config = {} } = route
  const { operationId, summary, description, tags } = schema
  const parameters = [
    ...parametersOf(schema.params, 'path', schemas),
    ...parametersOf(schema.querystring, 'query', schemas),
    ...parametersOf(schema.headers, 'header', schemas),
  ]
  const requestBody = requestBodyOf(route, schemas)
  const level = config.auth ?? (config.right ? 'user' : 'none')
  // The scope of application tokens; sessions have all.
  const bearer = [scopeOf(route)]
  const security = level === 'optional' ? [{}, { bearer }] : [{ bearer }]
  return {
    ...(operationId === undefined ? {} : { operationId }),
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    ...(tags === undefined ? {} : { tags }),
    ...(parameters.length ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    ...(level === 'none' ? {} : { security }),
    responses: responsesOf(schema.response, schemas),
  }
}

function parametersOf(schema: unknown, where: 'path' | 'query' | 'header', schemas: Json): Json[] {
  if (!(schema instanceof z.ZodType)) return []
  const { properties = {}, required = [] } = jsonSchema(schema, 'input', schemas) as ObjectSchema
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: property,
  }))
}

interface ObjectSchema {
  properties?: Record<string, Json>
  required?: string[]
}

function requestBodyOf({ schema, config }: RouteOptions, schemas: Json): Json | undefined {
  if (config?.form) {
    const { fields, json, files } = config.form
    const described: ObjectSchema = fields ? jsonSchema(fields, 'input', schemas) : {}
    const binary = Object.fromEntries(files.map((name) => [name, { type: 'string', format: 'binary' }]))
    const form = { type: 'object', ...described, properties: { ...described.properties, ...binary } }
    const type = files.length > 0 ? 'multipart/form-data' : 'application/x-www-form-urlencoded'
    const asJson = json ? { 'application/json': { schema: jsonSchema(json, 'input', schemas) } } : {}
    return { content: { [type]: { schema: form }, ...asJson } }
  }
  if (config?.body) return { content: { 'application/octet-stream': {} } }
  if (!(schema?.body instanceof z.ZodType)) return undefined
  return { content: { 'application/json': { schema: jsonSchema(schema.body, 'input', schemas) } } }
}

function responsesOf(response: unknown, schemas: Json): Json {
  const answers: Json = {
    default: {
      description: 'A refusal',
      content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  }
  if (typeof response !== 'object' || response === null) return answers
  for (const [status, schema] of Object.entries(response)) {
    const description = status.startsWith('2') ? 'Success' : 'Refused'
    const isEmpty = status === '204' || !(schema instanceof z.ZodType)
    answers[status] = isEmpty
      ? { description }
      : {
          description: schema.description ?? description,
          content: { 'application/json': { schema: jsonSchema(schema, 'output', schemas) } },
        }
  }
  return answers
}

/** JSON schema of a zod schema; named ones (`meta({ id })`) become components. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const { $schema: _dialect, $defs = {}, ...body } = z.toJSONSchema(schema, { io, unrepresentable: 'any', cycles: 'ref' })
  for (const [name, definition] of Object.entries($defs)) schemas[name] ??= relocated(definition)
  return relocated(body)
}

const relocated = (schema: unknown): Json => JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))

const problemSchema: Json = {
  type: 'object',
  description: 'Why a request was refused (RFC 9457)',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    error: { type: 'string', description: 'The same as `detail`' },
    code: { type: 'string' },
    docs: { type: 'string' },
    instance: { type: 'string' },
    'invalid-params': { type: 'object', additionalProperties: { type: 'object' } },
  },
}
