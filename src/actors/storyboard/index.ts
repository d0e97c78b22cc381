export { makeStoryboards, type StoryboardDeps } from './make-storyboards.ts'
