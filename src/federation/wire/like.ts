// Likes.

import type { JsonObject } from './context.ts'
import { buildRate, type RateDocument, readRate } from './rate.ts'
import type { Read } from './read.ts'

export const readLike = (document: unknown): Read<RateDocument> => readRate(document, 'Like')
export const buildLike = (input: RateDocument): JsonObject => buildRate('Like', input)
