// The user's channels: `channels`.

import type { PartItem } from '../../user-archive/index.ts'
import type { Export } from '../export.ts'
import { describeActor, writePictures } from './actor-pictures.ts'

export async function writeChannels(of: Export): Promise<void> {
  const items: PartItem<'channels'>[] = []
  for (const channel of of.user.channels) {
    const pictures = await writePictures(of, 'channels', channel)
    items.push({ ...describeActor(of, channel, pictures), support: channel.support })
  }
  await of.writer.list('channels', items)
}
