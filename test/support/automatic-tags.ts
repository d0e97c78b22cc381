// The automatic tagger of videos and comments, for tests that compose nouns themselves.

import { type AutomaticTags, makeAutomaticTags } from '../../src/actors/automatic-tag/index.ts'
import type { ActorDeps } from '../../src/actors/runtime/index.ts'
import { makeFindLists } from '../../src/actors/watched-words/index.ts'

export const automaticTagsFor = (deps: ActorDeps): AutomaticTags => makeAutomaticTags({ ...deps, findLists: makeFindLists(deps) })
