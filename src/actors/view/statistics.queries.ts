// The statistics of a video, computed from what was watched. One statement each.

import type { Database } from '../../platform/database/index.ts'

type Reader = Pick<Database, 'query'>

/** Null means unbounded. */
export interface Period {
  from: Date | null
  to: Date | null
}

export interface OverallStatistics {
  /** Seconds. */
  totalWatchTime: number
  averageWatchTime: number
  totalViewers: number
  viewersPeak: number
  viewersPeakDate: Date | null
  countries: { isoCode: string; viewers: number }[]
  subdivisions: { name: string; viewers: number }[]
}

/** Viewers who began in the period; the peak counts concurrent ones. */
export async function findOverallStatistics(db: Reader, videoId: number, { from, to }: Period): Promise<OverallStatistics> {
  const [row] = await db.query<OverallStatistics>(
    `with chosen as materialized (
       select started_at, ended_at, seconds, country, subdivision from watch
       where video_id = $1 and started_at >= coalesce($2::timestamptz, '-infinity') and started_at <= coalesce($3::timestamptz, 'infinity')
     ), steps as (
       select started_at as at, 1 as step from chosen union all select ended_at, -1 from chosen
     ), peak as (
       select at, sum(step) over (order by at, step desc rows unbounded preceding)::int as viewers from steps
       order by viewers desc, at limit 1
     )
     select coalesce(sum(seconds), 0)::float8 as "totalWatchTime", coalesce(round(avg(seconds)), 0)::float8 as "averageWatchTime",
       count(*)::int as "totalViewers", coalesce((select viewers from peak), 0) as "viewersPeak",
       (select at from peak) as "viewersPeakDate", ${namedViewers('country', 'isoCode')} as countries,
       ${namedViewers('subdivision', 'name')} as subdivisions
     from chosen`,
    [videoId, from, to],
  )
  if (!row) throw new Error('The statistics gave no row.')
  return row
}

const namedViewers = (column: string, name: string): string =>
  `(select coalesce(jsonb_agg(jsonb_build_object('${name}', ${column}, 'viewers', viewers) order by viewers desc), '[]')
    from (select ${column}, count(*)::int as viewers from chosen where ${column} is not null group by ${column}) named)`

/** Percentage of viewers who saw each second. */
export async function findRetention(db: Reader, videoId: number): Promise<{ second: number; retentionPercent: number }[]> {
  return await db.query(
    `with seen as (
       select unnest(range_agg(int4range((s.part ->> 0)::int, (s.part ->> 1)::int, '[]'))) as part
       from watch w cross join lateral jsonb_array_elements(w.sections) s (part) where w.video_id = $1 group by w.id
     ), steps as (
       select at, sum(step) as step from (
         select lower(part) as at, 1 as step from seen union all select upper(part), -1 from seen
       ) every group by at
     ), viewers as (select count(*) as total from watch where video_id = $1)
     select g.second, coalesce(round(100.0 * sum(coalesce(steps.step, 0)) over (order by g.second)
         / nullif((select total from viewers), 0), 2), 0)::float8 as "retentionPercent"
     from video v cross join lateral generate_series(0, v.duration) g (second)
       left join steps on steps.at = g.second
     where v.id = $1 order by g.second`,
    [videoId],
  )
}

export const groupIntervals = ['1 minute', '10 minutes', '1 hour', '1 day', '1 month'] as const
export type GroupInterval = (typeof groupIntervals)[number]

export interface Timeserie {
  groupInterval: GroupInterval
  data: { date: Date; value: number }[]
}

/** Viewers, or watched seconds, by start. Without a period, since the publication of the video. */
export async function findTimeserie(
  db: Reader,
  videoId: number,
  metric: 'viewers' | 'aggregateWatchTime',
  period: { from: Date; to: Date },
): Promise<Timeserie> {
  const groupInterval = groupIntervalOf(period)
  const bucketOf = (time: string): string =>
    groupInterval === '1 month'
      ? `date_trunc('month', ${time} at time zone 'UTC') at time zone 'UTC'`
      : `date_bin('${groupInterval}', ${time}, timestamptz '2000-01-01T00:00:00Z')`
  const data = await db.query<{ date: Date; value: number }>(
    `with counted as (
       select ${bucketOf('started_at')} as date, ${metric === 'viewers' ? 'count(*)' : 'sum(seconds)'}::float8 as value
       from watch where video_id = $1 and started_at >= $2 and started_at <= $3 group by 1
     )
     select g.at at time zone 'UTC' as date, coalesce(counted.value, 0) as value
     from generate_series(${bucketOf('$2::timestamptz')} at time zone 'UTC', $3::timestamptz at time zone 'UTC',
         interval '${groupInterval}') g (at)
       left join counted on counted.date = g.at at time zone 'UTC'
     order by g.at`,
    [videoId, period.from, period.to],
  )
  return { groupInterval, data }
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** So that a chart has some hundreds of points at most. */
function groupIntervalOf({ from, to }: { from: Date; to: Date }): GroupInterval {
  const ms = to.getTime() - from.getTime()
  if (ms >= 180 * DAY_MS) return '1 month'
  if (ms >= 15 * DAY_MS) return '1 day'
  if (ms >= DAY_MS) return '1 hour'
  return ms >= HOUR_MS ? '10 minutes' : '1 minute'
}
