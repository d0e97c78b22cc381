// Common parts of all resumable uploads: the headers that open one, its id in the address, and the empty responses.

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { DomainError } from '../../actors/runtime/index.ts'

export const initHeaders = z.object({
  'x-upload-content-length': z
    .string('Invalid value')
    .regex(/^\d{1,15}$/, 'Invalid value')
    .transform(Number)
    .refine((size) => size > 0, 'Should be more than 0'),
  'x-upload-content-type': z.string('Invalid value').min(1, 'Invalid value').max(200, 'Invalid value'),
})

export const filename = z.string('Invalid value').min(1, 'Invalid value').max(1000, 'Invalid value')
/** What a client knows the file by, such as a hash of parts of it. Without one, the details belong to what makes an upload the same. */
export const fileId = z.string('Invalid value').max(200, 'Invalid value').optional()
export const ofUpload = z.object({ upload_id: z.string().max(200).optional() })

/** An empty body: the headers contain everything. */
export const nothing = z.null()

export const UNCACHED = { 'cache-control': 'no-store' }

/** The response is the same for a missing id and for another user's. */
export function tokenOf({ query }: { query: z.output<typeof ofUpload> }): string {
  if (!query.upload_id) throw new DomainError('forbidden', 'This upload is not one of yours.')
  return query.upload_id
}

/** A response with headers only. */
export const sendEmpty = (reply: FastifyReply, status: 201 | 204 | 308, headers: Record<string, string> = {}): FastifyReply =>
  reply
    .code(status)
    .headers({ ...headers, 'content-length': '0', ...UNCACHED })
    .send()
