// JSON helpers for the checks of documents.

import type { JsonObject } from '../wire/context.ts'

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

export const asArray = (value: unknown): unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value])

export const without = (document: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(document).filter(([key]) => key !== name))
