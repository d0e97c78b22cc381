// The text of support of a channel, given to all of its videos when the owner says so: each is changed by the command by which
// the owner would do it, so that everybody concerned is notified.

import { type ActorDeps, eachRow, unlessGone } from '../runtime/index.ts'
import { userRoles } from '../user/index.ts'
import type { UpdateVideo } from '../video/index.ts'

interface Given {
  accountId: number
  support: string | null
}

export function spreadSupport({ db, registry, videos }: ActorDeps & { videos: Pick<UpdateVideo, 'update'> }): void {
  registry.job('channel-support', {
    queue: 'io',
    async run({ data, signal }) {
      const channelId = Number(data.channelId)
      let given: Given | undefined
      while (true) {
        const [channel] = await db.query<Given>(
          `select account_id as "accountId", support from channel where id = $1 and state = 'active'`,
          [channelId],
        )
        // The text may change while the old one is given: the last one stays.
        if (!channel || channel.support === given?.support) return
        given = channel
        await give({ channelId, ...channel }, signal)
      }
    },
  })

  async function give({ channelId, accountId, support }: Given & { channelId: number }, signal: AbortSignal) {
    const from = 'from video o where o.channel_id = $1 and o.support is distinct from $2::text'
    await eachRow<{ id: number }>({ db, signal, from, values: [channelId, support] }, ({ id }) =>
      unlessGone(videos.update(id, { accountId, role: userRoles.user }, { support })),
    )
  }
}
