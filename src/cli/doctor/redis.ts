// Redis, if configured: reachable, recent enough, and not configured to evict keys.

import { redisAddress } from '../../connections.ts'
import { silentLogger } from '../../platform/logger.ts'
import { connectRedis } from '../../platform/redis.ts'
import { type Check, sentence, USUAL_LIMIT } from './check.ts'

/** Required by BullMQ. */
const OLDEST = [6, 2] as const

export const redisCheck: Check = {
  name: 'redis',
  limit: USUAL_LIMIT,
  async run({ loaded }, say) {
    if (!loaded.redis) return say.ok('Redis is not configured: PostgreSQL does its work.')
    let client: Awaited<ReturnType<typeof connectRedis>>
    try {
      client = await connectRedis({ address: redisAddress(loaded.redis), logger: silentLogger })
    } catch (error) {
      return say.problem(sentence(error), 'Start it, or take `redis` and REDIS_URL out of the configuration.')
    }
    try {
      const info = await client.info()
      const of = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? ''
      const version = of('redis_version')
      const [major = 0, minor = 0] = version.split('.').map(Number)
      if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
        say.problem(`Redis ${version} is too old.`, `Bring it to version ${OLDEST.join('.')} or later.`)
      } else say.ok(`Redis ${version} answers.`)
      const policy = of('maxmemory_policy')
      if (policy !== '' && policy !== 'noeviction') {
        say.warning(
          `Its maxmemory-policy is ${policy}, so that entries of the queue may vanish when its memory is full.`,
          'Set maxmemory-policy to noeviction.',
        )
      }
      // Hosted ones often refuse this command.
      const saves = await client.config('GET', 'save').catch(() => undefined)
      const isKept = of('aof_enabled') === '1' || (Array.isArray(saves) && saves[1] !== undefined && saves[1] !== '')
      say.ok(
        isKept
          ? 'It stores its data on disk, but nothing in it needs a backup.'
          : 'It keeps nothing on the disk, which is enough: the queue is made anew from the database.',
      )
    } finally {
      client.disconnect()
    }
  },
}
