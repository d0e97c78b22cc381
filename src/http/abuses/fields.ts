// Bodies, parameters and queries of reports.

import { z } from 'zod'
import { LONGEST_REASON, predefinedReasons } from '../../actors/abuse/index.ts'
import type { Config } from '../../config/index.ts'
import { idNumber, idOrUuidInJson, idText, integerText, paging, readable, sorting } from '../plugins/schemas.ts'

/** The description of the API has another name for the first one; both are accepted. */
const reasonName = z.enum([...predefinedReasons, 'violentOrAbusive'])
/** One or several; refusals echo what was sent. */
const reasonNames = z.union([reasonName, z.array(reasonName).max(predefinedReasons.length)]).transform((sent) => [sent].flat())
const LARGEST = 2_147_483_647
const seconds = z.int().min(0).max(LARGEST).nullish()
const prose = readable(z.string().min(2).max(LONGEST_REASON))
const positiveId = idText.pipe(z.int().min(1, 'Should have a valid id'))

export const abuseParam = z.object({ id: positiveId })
export const messageParam = z.object({ id: positiveId, messageId: positiveId })

export const reportBody = z.object({
  reason: prose,
  predefinedReasons: z.array(reasonName).max(predefinedReasons.length).optional(),
  video: z
    .object({ id: idOrUuidInJson('video').optional(), startAt: seconds, endAt: seconds })
    .superRefine(({ startAt, endAt }, context) => {
      if (typeof startAt !== 'number' || typeof endAt !== 'number' || endAt > startAt) return
      const message = 'Should have a startAt timestamp beginning before endAt'
      context.addIssue({ code: 'custom', path: ['endAt'], input: endAt, message })
    })
    .optional(),
  comment: z.object({ id: idNumber.min(1).optional() }).optional(),
  account: z.object({ id: idNumber.optional() }).optional(),
})

const STATES = { 1: 'pending', 2: 'rejected', 3: 'accepted' } as const
export const stateOfNumber = (id: 1 | 2 | 3) => STATES[id]

const stateNumber = z.union([z.literal(1), z.literal(2), z.literal(3)])

export const moderationBody = z.object({ state: stateNumber.optional(), moderationComment: prose.optional() })

export const messageBody = z.object({ message: prose })

const stateText = z.enum(['1', '2', '3']).transform((text) => STATES[Number(text) as 1 | 2 | 3])
const search = z.string().max(500).optional()

const listed = (config: Config) => ({
  ...paging(config),
  sort: sorting(['id', 'createdAt', 'state'], '-createdAt'),
  id: integerText({ min: 0, max: LARGEST }).optional(),
  state: stateText.optional(),
  search,
})

export const myAbusesQuery = (config: Config) => z.object(listed(config))

export const abusesQuery = (config: Config) =>
  z.object({
    ...listed(config),
    predefinedReason: reasonNames.optional(),
    searchReporter: search,
    searchReportee: search,
    searchVideo: search,
    searchVideoChannel: search,
    videoIs: z.enum(['deleted', 'blacklisted']).optional(),
    filter: z.enum(['video', 'comment', 'account']).optional(),
  })
