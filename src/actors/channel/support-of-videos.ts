// Copies the support text of a channel to all its videos on the owner's request: each is changed by the owner's command, so that everybody
// is notified.

import type { Aliased } from '../../platform/database/index.ts'
import { type ActorDeps, eachRow, ignoreNotFound } from '../runtime/index.ts'
import { userRoles } from '../user/index.ts'
import type { UpdateVideo } from '../video/index.ts'
import type { Channel } from './channel.entity.ts'

type Given = Aliased<Channel, 'accountId' | 'support'>

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
        // The text may change during the walk: the last one wins.
        if (!channel || channel.support === given?.support) return
        given = channel
        await give({ channelId, ...channel }, signal)
      }
    },
  })

  async function give({ channelId, accountId, support }: Given & { channelId: number }, signal: AbortSignal) {
    const from = 'from video o where o.channel_id = $1 and o.support is distinct from $2::text'
    await eachRow<{ id: number }>({ db, signal, from, values: [channelId, support] }, ({ id }) =>
      ignoreNotFound(videos.update(id, { accountId, role: userRoles.user }, { support })),
    )
  }
}
