export {
  type AutomaticTags,
  type CommentTags,
  makeAutomaticTags,
  NO_TAGS,
  retagComment,
  type TaggedVideo,
  tagComments,
  tagVideo,
} from './automatic-tag.commands.ts'
export { commentsTagged, tagsOfComment, tagsOfVideo, videosTagged } from './automatic-tag.queries.ts'
export {
  type AvailableTag,
  availableTags,
  type CommentTagPolicies,
  makeCommentTagPolicies,
  reviewedTags,
} from './policies.ts'
