// Views on a separate database with a fake clock; activities are recorded, not sent.

import { makeViews, type Views } from '../../../src/actors/view/index.ts'
import type { Values } from '../../../src/config/layers.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { type MadeVideo, makeRemoteChannel, makeUser, makeVideo, TEST_ORIGIN } from '../../support/builders.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'
import { makeTestRuntime } from '../../support/runtime.ts'

export interface SentEvent {
  event: string
  payload: Record<string, number>
}

export interface ViewsHarness {
  db: Database
  clock: FakeClock
  views: Views
  /** The same server in another process. */
  anotherProcess(): Views
  ours: MadeVideo
  theirs: MadeVideo
  /** The server of `theirs`, and another one. */
  hosts: { home: number; away: number }
  /** New activities to be sent since the last call, in order. */
  takeEvents(): Promise<SentEvent[]>
  /** Counter and viewers of a video, as REST shows them. */
  shown(video: MadeVideo): Promise<{ views: number; viewers: number }>
  /** Runs the daily tasks. */
  tidy(): Promise<void>
  stop(): Promise<void>
}

export async function startViewsHarness(overrides: Values = {}): Promise<ViewsHarness> {
  const clock = fakeClock(new Date('2026-11-20T12:00:00.000Z'))
  const { runtime, db, stop } = await makeTestRuntime({ clock })
  await db.migrate()
  runtime.registry.job('federate-video', { queue: 'io', run: async () => {} })
  const config = testConfig(overrides)
  const deps = {
    db,
    clock,
    tell: runtime.tell,
    registry: runtime.registry,
    logger: silentLogger,
    config: () => config,
    secrets: makeSecrets({ secret: 'a secret for tests' }),
    urls: makeUrls(TEST_ORIGIN),
  }
  const user = await makeUser(db)
  const channel = await makeRemoteChannel(db, { host: 'home.example' })
  const host = async (name: string): Promise<number> => {
    const [row] = await db.query<{ id: number }>(
      'insert into remote_host (host) values ($1) on conflict (host) do update set host = excluded.host returning id',
      [name],
    )
    return row?.id ?? 0
  }
  return {
    db,
    clock,
    stop,
    views: makeViews(deps),
    async tidy() {
      await runtime.registry.periodics.get('remove-old-views')?.run()
    },
    anotherProcess: () => makeViews({ ...deps, registry: { ...deps.registry, periodic: () => {} } }),
    ours: await makeVideo(db, { channelId: user.channelId, columns: { duration: 600 } }),
    theirs: await makeVideo(db, {
      channelId: channel.channelId,
      columns: { duration: 600 },
      remoteOrigin: 'https://home.example',
    }),
    hosts: { home: await host('home.example'), away: await host('away.example') },
    takeEvents: () =>
      db.query<SentEvent>(
        `with taken as (delete from outbox returning id, event, payload)
         select event, payload from taken order by id`,
      ),
    async shown(video) {
      const [row] = await db.query<{ views: number; viewers: number }>(
        `select (v.views + (select coalesce(sum(d.views), 0) from video_delta d where d.video_id = v.id))::int as views,
           coalesce(case when v.remote then greatest(w.viewers, w.told_viewers) else w.viewers + w.told_viewers end, 0)
             as viewers
         from video v left join viewing w on w.video_id = v.id where v.id = $1`,
        [video.id],
      )
      return row ?? { views: 0, viewers: 0 }
    },
  }
}
