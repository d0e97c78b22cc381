export {
  followDescription,
  moveChapters,
  replaceChapters,
  startChapters,
} from './chapter.commands.ts'
export { listChapters } from './chapter.queries.ts'
export { type Chapter, MAX_CHAPTERS, MAX_TIMECODE, MAX_TITLE, tidyChapters } from './chapters.ts'
