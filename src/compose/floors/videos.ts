// Videos: their files and the work on them, their channels, and what people say and do about them.

import { maintainAbuseTotals } from '../../actors/abuse/index.ts'
import { registerActorTotals } from '../../actors/actor/index.ts'
import { makeActorImages } from '../../actors/actor-image/index.ts'
import { makeCaptions, makeTranscriptions } from '../../actors/caption/index.ts'
import { makeChannels, spreadSupport } from '../../actors/channel/index.ts'
import {
  maintainCommentTotals,
  makeCommentReviews,
  makeComments,
  makeRemoveCommentsOf,
  makeWaitingComments,
} from '../../actors/comment/index.ts'
import { scheduleReconciliation } from '../../actors/counters/index.ts'
import { makeHistory } from '../../actors/history/index.ts'
import { maintainActivityTotals } from '../../actors/incoming-activity/index.ts'
import { makeOwnershipChanges } from '../../actors/ownership-change/index.ts'
import { maintainPlaylistTotals, makePlaylists, makeRemotePlaylists } from '../../actors/playlist/index.ts'
import { makeRatings } from '../../actors/rating/index.ts'
import { makeRemoteWorks, makeRunnerJobs, makeRunners } from '../../actors/runner/index.ts'
import { makeStorageMoves } from '../../actors/storage-move/index.ts'
import { makeStoryboards } from '../../actors/storyboard/index.ts'
import { makeEditions, makeStudio } from '../../actors/studio/index.ts'
import { makeTorrents } from '../../actors/torrent/index.ts'
import { makeTranscodeAgain, makeTranscodings } from '../../actors/transcoding/index.ts'
import { makeUploads } from '../../actors/upload/index.ts'
import { makeUserImports } from '../../actors/user-import/index.ts'
import {
  announceVideoChanges,
  makeChapters,
  makeCreateVideo,
  makeDrawPictures,
  makeInspectFile,
  makeRemoveFiles,
  makeRemoveVideo,
  makeReplaceSource,
  makeUpdateVideo,
  registerCounters,
  registerListing,
  registerScores,
  removeStaleWorkFolders,
} from '../../actors/video/index.ts'
import { makeVideoBlocks } from '../../actors/video-block/index.ts'
import { makeViews } from '../../actors/view/index.ts'
import { type Ffmpeg, makeWarmFfprobe } from '../../media/index.ts'
import type { GenerateKeys } from '../../platform/keys.ts'
import type { Ground } from '../foundation.ts'
import { openMedia } from '../media.ts'
import type { People } from './people.ts'

export type Videos = Awaited<ReturnType<typeof makeVideos>>

export async function makeVideos(below: Ground & People & { generateKeys: GenerateKeys | undefined; replacedFfmpeg: Ffmpeg | undefined }) {
  const { automaticTags, closers, deps, generateKeys, replacedFfmpeg, runtime } = below
  const { media, remoteCache } = await openMedia({ ...deps, automaticTags }, replacedFfmpeg, closers)
  const warmFfprobe = makeWarmFfprobe()
  closers.push(() => warmFfprobe.close())
  const inspectFile = makeInspectFile({ ...media, runFfprobe: warmFfprobe.run })
  const { drawPictures } = makeDrawPictures({ ...media, inspectFile })
  const createVideo = makeCreateVideo({ ...media, inspectFile })
  const replaceSource = makeReplaceSource({ ...media, inspectFile })
  const userImports = makeUserImports(media)
  const uploads = makeUploads({ ...media, createVideo, replaceSource, userImports })
  removeStaleWorkFolders(media)
  const works = makeRemoteWorks()
  const runnerJobs = makeRunnerJobs({ ...media, works })
  makeTranscodings({ ...media, drawPictures, works })
  makeStoryboards({ ...media, works })
  makeEditions({ ...media, inspectFile, replaceSource, works })
  makeTorrents(media)
  const preferred = deps.config().object_storage.enabled ? 'object-storage' : 'file-system'
  const videos = { ...makeUpdateVideo(media), ...makeRemoveVideo(media), ...makeRemoveFiles(media) }
  const captions = makeCaptions({ ...media, changeParts: videos.changeParts })
  spreadSupport({ ...deps, videos })
  const comments = makeComments({ ...deps, automaticTags })
  maintainCommentTotals(deps)
  maintainAbuseTotals(deps)
  maintainPlaylistTotals(deps)
  maintainActivityTotals(deps)
  registerCounters(deps)
  registerActorTotals(deps)
  scheduleReconciliation(deps)
  registerScores(deps)
  registerListing(deps)
  announceVideoChanges(runtime.registry)
  return {
    actorImages: makeActorImages(media),
    bulkComments: makeRemoveCommentsOf({ ...deps, comments }),
    captions,
    channels: makeChannels({ ...deps, generateKeys }),
    chapters: makeChapters(videos),
    comments,
    createVideo,
    drawPictures,
    ffmpeg: media.ffmpeg,
    history: makeHistory(deps),
    inspectFile,
    media,
    ownershipChanges: makeOwnershipChanges(deps),
    playlists: makePlaylists(media),
    ratings: makeRatings(deps),
    remoteCache,
    remotePlaylists: makeRemotePlaylists(deps),
    replaceSource,
    reviews: makeCommentReviews({ ...deps, automaticTags }),
    runnerJobs,
    runners: makeRunners({ ...deps, releaseJobs: runnerJobs.release }),
    storageMoves: makeStorageMoves({ ...media, preferred }),
    store: media.store,
    studio: makeStudio(media),
    transcodeAgain: makeTranscodeAgain(deps),
    transcriptions: makeTranscriptions({ ...deps, works, captions }),
    uploads,
    userImports,
    videoBlocks: makeVideoBlocks(media),
    videos,
    views: makeViews(deps),
    waitingComments: makeWaitingComments(deps),
    works,
  }
}
