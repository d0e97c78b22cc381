export { makeChannelRemoval } from './remove-channel.ts'
