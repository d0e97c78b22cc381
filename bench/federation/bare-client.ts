// The baseline of deliveries: the same number of posts of the same size, by the same HTTP client, unsigned and from memory.

import { Pool } from 'undici'

export interface BareOrder {
  inboxes: string[]
  /** Posts per inbox. */
  posts: number
  /** Body size in characters. */
  size: number
}

const AT_ONCE = 4

process.on('message', async ({ inboxes, posts, size }: BareOrder) => {
  await Promise.all(inboxes.map((inbox) => postTo(new URL(inbox), posts, size)))
  process.send?.('done')
})
process.once('disconnect', () => process.exit(0))

async function postTo({ origin, pathname }: URL, posts: number, size: number): Promise<void> {
  const pool = new Pool(origin, { connections: AT_ONCE })
  let left = posts
  const work = async () => {
    while (left > 0) {
      left -= 1
      const body = `{"n":${left},"text":"${'x'.repeat(size)}"}`
      const headers = { 'content-type': 'application/activity+json' }
      const answer = await pool.request({ method: 'POST', path: pathname, headers, body })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  await pool.close()
}
