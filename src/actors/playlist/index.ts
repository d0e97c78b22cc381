export { insertWatchLater, playlistTypes } from './playlist.commands.ts'
