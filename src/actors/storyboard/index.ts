export { makeStoryboards, type StoryboardDeps } from './make-storyboards.ts'
export type { Storyboard } from './storyboard.entity.ts'
