// Public facts about the instance in addition to its configuration: its pictures, whether there is room for users, and whether it has a
// homepage. Read with every page view, so they are cached for a moment.

import type { Config } from '../../config/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { makeTtlCache } from '../../platform/ttl-cache.ts'
import { HAS_HOMEPAGE } from './homepage.ts'

export interface InstanceImage {
  filename: string
  width: number | null
  created_at: string
  updated_at: string
}

export interface InstanceFacts {
  /** The widest first. */
  avatars: InstanceImage[]
  banners: InstanceImage[]
  /** Counted up to `signup.limit`. */
  users: number
  homepage: boolean
}

const TOPIC = 'instance-facts'
const KEEP_MS = 1_000

export type InstanceFactsReader = ReturnType<typeof makeInstanceFacts>

export function makeInstanceFacts(deps: {
  db: Database
  clock: Clock
  config: () => Config
  bus: Pick<Bus, 'subscribe' | 'publish'>
  actorId: () => Promise<number>
}) {
  const { db, clock, config, bus, actorId } = deps
  const kept = makeTtlCache<'facts', InstanceFacts>({ clock, max: 1 })
  const unsubscribe = bus.subscribe(TOPIC, () => kept.clear())

  async function read(): Promise<InstanceFacts> {
    const [row] = await db.query<InstanceFacts>(FACTS, [await actorId(), Math.max(0, config().signup.limit)])
    if (!row) throw new Error('The facts of the instance are one row.')
    return row
  }

  return {
    read,
    /** At most a second old; the same object until it is read again. */
    recent(): Promise<InstanceFacts> {
      return kept.get('facts', KEEP_MS, read)
    },
    /** Reports a change of a picture or the homepage: this process drops its cache at once, the others when they are notified. */
    async changed(): Promise<void> {
      kept.clear()
      await bus.publish(TOPIC, {})
    },
    close: unsubscribe,
  }
}

const images = (type: 1 | 2): string =>
  `(select coalesce(jsonb_agg(jsonb_build_object('filename', i.filename, 'width', i.width, 'created_at', i.created_at,
     'updated_at', i.updated_at) order by i.width desc nulls last), '[]')
   from actor_image i where i.actor_id = $1 and i.type = ${type})`

const FACTS = `select ${images(1)} as avatars, ${images(2)} as banners, ${HAS_HOMEPAGE} as homepage,
  (select count(*) from (select 1 from users where state <> 'deleted' limit $2) as counted) as users`
