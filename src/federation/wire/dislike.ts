// Dislikes.

import type { JsonObject } from './context.ts'
import { buildRate, type RateDocument, readRate } from './rate.ts'
import type { Read } from './read.ts'

export const readDislike = (document: unknown): Read<RateDocument> => readRate(document, 'Dislike')
export const buildDislike = (input: RateDocument): JsonObject => buildRate('Dislike', input)
