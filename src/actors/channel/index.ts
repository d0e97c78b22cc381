export {
  type ChannelChanges,
  type ChannelOwner,
  type Channels,
  makeChannels,
  type NewChannel,
} from './channel.commands.ts'
export { assertMayManageChannel } from './channel.policy.ts'
export {
  buildChannelList,
  type ChannelHandle,
  type ChannelListQuery,
  type ChannelRow,
  channelExists,
  type FoundChannel,
  findChannel,
  findChannelByHandle,
  listChannels,
} from './channel.queries.ts'
export { spreadSupport } from './support-of-videos.ts'
