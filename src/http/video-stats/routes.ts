// Statistics of a video, for its owner and users who may see all videos.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { assertMayChange, findVideoAge } from '../../actors/video/index.ts'
import { findOverallStatistics, findRetention, findTimeserie, groupIntervals } from '../../actors/view/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { type IdOrUuid, idOrUuid, moment } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { viewerOf } from '../videos/viewer.ts'

const DAY_MS = 86_400_000
const tags = ['Video Stats']
const byKey = z.object({ id: idOrUuid('video') })
const period = z.object({ startDate: moment.optional(), endDate: moment.optional() })

const overall = z.object({
  totalWatchTime: z.number(),
  averageWatchTime: z.number(),
  totalViewers: z.int(),
  viewersPeak: z.int(),
  viewersPeakDate: z.iso.datetime().nullable(),
  countries: z.array(z.object({ isoCode: z.string(), viewers: z.int() })),
  subdivisions: z.array(z.object({ name: z.string(), viewers: z.int() })),
})
const retention = z.object({ data: z.array(z.object({ second: z.int(), retentionPercent: z.number() })) })
const timeserie = z.object({
  groupInterval: z.enum(groupIntervals),
  data: z.array(z.object({ date: z.iso.datetime(), value: z.number() })),
})

export function videoStatsArea(deps: { db: Database; clock: Clock; config: () => Config }): Area {
  const { db, clock, config } = deps

  async function ownVideo(request: FastifyRequest, key: IdOrUuid): Promise<{ id: number; publishedAt: Date }> {
    const video = await findVideoAge(db, key)
    if (!video) throw notFound('Video not found')
    assertMayChange(video, viewerOf(sessionOf(request)), 'SEE_ALL_VIDEOS')
    return video
  }

  function periodOf({ startDate, endDate }: z.infer<typeof period>, publishedAt: Date): { from: Date; to: Date } {
    if ((startDate === undefined) !== (endDate === undefined)) {
      throw new DomainError('invalid', 'Both start date and end date should be defined if one of them is specified')
    }
    const [from, to] = [startDate ?? publishedAt, endDate ?? clock.now()]
    const longest = config().vireo.views.stats_max_days * DAY_MS
    if (to.getTime() - from.getTime() <= longest) return { from, to }
    if (startDate !== undefined) throw new DomainError('invalid', 'Start date and end date interval is too big')
    return { from: new Date(to.getTime() - longest), to }
  }

  return (app) => {
    app.get(
      '/api/v1/videos/:id/stats/overall',
      { config: { auth: 'user' }, schema: { tags, params: byKey, querystring: period, response: { 200: overall } } },
      async (request) => {
        const { id } = await ownVideo(request, request.params.id)
        const { startDate, endDate } = request.query
        const found = await findOverallStatistics(db, id, { from: startDate ?? null, to: endDate ?? null })
        return { ...found, viewersPeakDate: found.viewersPeakDate?.toISOString() ?? null }
      },
    )

    app.get(
      '/api/v1/videos/:id/stats/retention',
      { config: { auth: 'user' }, schema: { tags, params: byKey, response: { 200: retention } } },
      async (request) => {
        const { id } = await ownVideo(request, request.params.id)
        return { data: await findRetention(db, id) }
      },
    )

    app.get(
      '/api/v1/videos/:id/stats/timeseries/:metric',
      {
        config: { auth: 'user' },
        schema: {
          tags,
          params: byKey.extend({ metric: z.enum(['viewers', 'aggregateWatchTime']) }),
          querystring: period,
          response: { 200: timeserie },
        },
      },
      async (request) => {
        const { id, publishedAt } = await ownVideo(request, request.params.id)
        const period = periodOf(request.query, publishedAt)
        const { groupInterval, data } = await findTimeserie(db, id, request.params.metric, period)
        return { groupInterval, data: data.map(({ date, value }) => ({ date: date.toISOString(), value })) }
      },
    )
  }
}
