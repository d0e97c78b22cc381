export { type FindLists, makeFindLists, type StoredList } from './compiled-lists.ts'
export {
  CORE_TAGS,
  type ListOwner,
  makeWatchedWords,
  type NewWatchedWords,
  type WatchedWords,
} from './watched-words.commands.ts'
export {
  findWatchedWords,
  listWatchedWords,
  readWatchedWords,
  summarizeWatchedWords,
  type WatchedWordsRow,
  type WatchedWordsSummary,
  watchedWordsSorts,
} from './watched-words.queries.ts'
