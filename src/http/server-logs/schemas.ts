// Queries of the logs, error reports of web clients (contract, fields.clientLog), and log lines as clients read them.

import { z } from 'zod'
import { moment, oneOrMore } from '../plugins/schemas.ts'

/** By default the end is now. */
const time = { startDate: moment, endDate: moment.optional() }

export const logsQuery = z.object({
  ...time,
  level: z.enum(['debug', 'info', 'warn', 'error'], 'Invalid value').default('info'),
  tagsOneOf: oneOrMore(z.string('Invalid value')).optional(),
})

export const auditQuery = z.object(time)

const LONGEST_URL = 5000

/** Any scheme: clients may be apps. */
function isAddress(text: string): boolean {
  const { protocol = '', hostname = '' } = URL.parse(text) ?? {}
  return /^(https?|capacitor|ionic):$/.test(protocol) && hostname !== ''
}

const text = (longest: number) => z.string('Invalid value').min(1, 'Invalid value').max(longest, 'Invalid value')

export const clientLogBody = z.object({
  level: z.enum(['warn', 'error'], 'Invalid value'),
  message: text(1000),
  url: z
    .string('Invalid value')
    .max(LONGEST_URL, 'Should have the address of a page')
    .refine(isAddress, 'Should have the address of a page'),
  stackTrace: text(15_000).optional(),
  userAgent: text(200).optional(),
  meta: text(15_000).optional(),
})
export type ClientLog = z.infer<typeof clientLogBody>

export const logLineView = z.looseObject({
  level: z.enum(['debug', 'info', 'warn', 'error', 'audit']),
  message: z.string(),
  label: z.string(),
  timestamp: z.string(),
  tags: z.array(z.string()).optional(),
})
export type LogLineView = z.infer<typeof logLineView>

/** A line without its details. */
export const logHeadView = z
  .object({
    level: logLineView.shape.level,
    message: z.string().meta({ description: 'Shortened to 1000 characters.' }),
    timestamp: z.iso.datetime(),
  })
  .meta({ id: 'LogHead' })
