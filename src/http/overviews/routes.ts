// The overview: on each page one category, one channel and one tag, with the newest videos of each.

import { z } from 'zod'
import {
  categoryLabels,
  findSamples,
  labelled,
  listSamples,
  type Samples,
  type VideoListQuery,
  type VideoListRow,
} from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { makeTtlCache } from '../../platform/ttl-cache.ts'
import { integerText } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { channelSummaryView, type Here, toActorSummary } from '../videos/actor.view.ts'
import { noTokens } from '../videos/address-token.ts'
import { makeNsfwFilter } from '../videos/nsfw-filter.ts'
import { toVideoViews, videoView } from '../videos/video.view.ts'
import { viewerOf } from '../videos/viewer.ts'

export interface OverviewsDeps {
  db: Database
  config: () => Config
  clock: Clock
  urls: Here
}

const SAMPLES_MS = 4 * 3_600_000

const videos = z.array(videoView)
const overviewView = z
  .object({
    categories: z.array(z.object({ category: z.object({ id: z.int(), label: z.string() }), videos })),
    channels: z.array(z.object({ channel: channelSummaryView, videos })),
    tags: z.array(z.object({ tag: z.string(), videos })),
  })
  .meta({ id: 'VideosOverview' })

export function overviewsArea(deps: OverviewsDeps): Area {
  const { db, urls, config } = deps
  const nsfwFilter = makeNsfwFilter(deps)
  const samplesNow = makeSamples(deps)

  return (app) => {
    app.get(
      '/api/v1/overviews/videos',
      {
        config: { auth: 'optional' },
        schema: {
          tags: ['Overviews'],
          operationId: 'getVideosOverview',
          querystring: z.object({ page: integerText({ min: 1, max: config().vireo.overview.max_page }).default(1) }),
          response: { 200: overviewView },
        },
      },
      async ({ query, session }) => {
        const viewer = viewerOf(session)
        const { videos_per_sample, min_videos_per_sample } = config().vireo.overview
        const { categories, tags, channels } = await samplesNow()
        const place = query.page - 1
        const [category, tag, channelId] = [categories[place], tags[place], channels[place]]
        const common: VideoListQuery = {
          scope: { of: 'everybody' },
          internal: viewer !== null,
          mutedFor: viewer?.accountId ?? null,
          start: 0,
          count: videos_per_sample,
          skipCount: true,
          sort: { by: 'publishedAt', descending: true },
          nsfw: nsfwFilter({}, session?.nsfwPolicy),
        }
        const wanted = [
          ...(category === undefined ? [] : [{ kind: 'category', query: { ...common, categoryOneOf: [category] } }]),
          ...(tag === undefined ? [] : [{ kind: 'tag', query: { ...common, tagsOneOf: [tag] } }]),
          ...(channelId === undefined ? [] : [{ kind: 'channel', query: { ...common, scope: { of: 'channel', channelId } as const } }]),
        ]
        const found = await listSamples(
          db,
          wanted.map((sample) => sample.query),
        )
        /** Rows of the kind; empty if the requester may see too few of its videos. */
        const rowsOf = (kind: string): VideoListRow[] => {
          const rows = found[wanted.findIndex((sample) => sample.kind === kind)] ?? []
          return rows.length < min_videos_per_sample ? [] : rows
        }
        const shown = (rows: VideoListRow[]) => toVideoViews(rows, { here: urls, include: 0, tokenOf: noTokens })
        const ofCategory = rowsOf('category')
        const ofTag = rowsOf('tag')
        const ofChannel = rowsOf('channel')
        const channelVideos = await shown(ofChannel)
        return {
          categories:
            category === undefined || ofCategory.length === 0
              ? []
              : [
                  {
                    category: { id: category, label: labelled(categoryLabels, category).label },
                    videos: await shown(ofCategory),
                  },
                ],
          channels: ofChannel.slice(0, 1).map(({ channel }) => ({ channel: toActorSummary(channel, urls), videos: channelVideos })),
          tags: tag === undefined || ofTag.length === 0 ? [] : [{ tag, videos: await shown(ofTag) }],
        }
      },
    )
  }
}

/** The sampled categories, channels and tags, renewed every four hours. */
function makeSamples({ db, clock, config }: Pick<OverviewsDeps, 'db' | 'clock' | 'config'>): () => Promise<Samples> {
  // An almost empty server is sampled again each time.
  const kept = makeTtlCache<'samples', Samples>({ clock, max: 1, endsAt: ({ channels }) => (channels.length > 0 ? undefined : 0) })
  const find = (): Promise<Samples> => {
    const { min_videos_per_sample, max_page } = config().vireo.overview
    return findSamples(db, { minVideos: min_videos_per_sample, most: max_page })
  }
  return () => kept.get('samples', SAMPLES_MS, find)
}
