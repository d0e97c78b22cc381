// Zod for Fastify: requests are parsed by their schemas; responses are validated in tests and only stringified in production.

import { isDeepStrictEqual } from 'node:util'
import type { FastifySchemaCompiler } from 'fastify'
import type { FastifySerializerCompiler } from 'fastify/types/schema.js'
import { z } from 'zod'
import { readBody } from './body-types.ts'
import { type Part, parts } from './invalid-params.ts'
import { unstorableIssues } from './unstorable.ts'

/** Thrown to the error handler, which then names all invalid fields by the schemas of the route. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest'
  readonly part: Part

  constructor(part: Part) {
    super('Incorrect request parameters')
    this.part = part
  }
}

/** A missing part is an empty object, so that its required fields are named. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  const part = parts.find((name) => name === httpPart) ?? 'body'
  return (data: unknown) => {
    const result = part === 'body' ? readBody(schema, data ?? {}) : schema.safeParse(data ?? {})
    const isGood = result.success && unstorableIssues(result.data).length === 0
    return isGood ? { value: result.data } : { error: new InvalidRequest(part) }
  }
}

/** Production: the fastest way to JSON on this Node; the schemas are for documentation and tests. */
export const plainSerializerCompiler: FastifySerializerCompiler<unknown> = () => (data) => JSON.stringify(data)

/**
 * Tests: the same bytes as in production, after the JSON is validated with the schema of its status. An unknown field is an error too,
 * since production would not strip it.
 */
export const checkingSerializerCompiler: FastifySerializerCompiler<unknown> = ({ schema, method, url, httpStatus }) => {
  return (data) => {
    const json = JSON.stringify(data)
    if (!(schema instanceof z.ZodType)) return json
    const wire: unknown = JSON.parse(json)
    const result = schema.safeParse(wire)
    if (!result.success) throw new Error(`${method} ${url} ${httpStatus}: ${z.prettifyError(result.error)}`)
    if (!isDeepStrictEqual(result.data, wire)) {
      throw new Error(`${method} ${url} ${httpStatus}: the answer has fields that its schema does not name: ${json}`)
    }
    return json
  }
}
