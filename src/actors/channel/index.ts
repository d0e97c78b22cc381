export { type ChannelListQuery, type ChannelRow, findChannelByHandle, listChannels } from './channel.queries.ts'
