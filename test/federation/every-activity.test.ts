// Where it is proved of each activity that it does on one server what somebody did on another. All of it with real nodes,
// caused and seen over REST; what nobody can do over REST with a peer that is played.

import { readFile } from 'node:fs/promises'
import { describe, expect, it } from '@jest/globals'
import { HANDLED_ACTIVITIES } from './handled-activities.ts'

interface Proof {
  activity: string
  object: string
  file: string
  /** How the test is called. */
  test: string
  /** Why no two real nodes do it. */
  played?: string
}

const nodes = (activity: string, object: string, file: string, test: string): Proof => ({
  activity,
  object,
  file,
  test,
})
const played = (activity: string, object: string, file: string, test: string, why: string): Proof => ({
  activity,
  object,
  file,
  test,
  played: why,
})

const VIDEO = 'a video arrives with its maker, changes and goes, on every node'
const RATES = 'likes and dislikes count where the video is, are taken back, and are told to all who have it'
const THREAD = 'a thread and its replies are seen on every node with their authors, each told by the owner alone'
const REVIEW = 'one that waits for the owner is seen by nobody, then approved for all, or refused'
const PLAYLISTS = '%s has the playlists of %s from a follow on: old and new ones, their changes and their end'
const COPY = 'a copy that one makes is listed by the server of the video, by nobody else, and goes when it goes'
const WATCHED = 'a view of a video of one on the other counts on both, viewers are shown, and what was watched arrives'
const ACCOUNT = 'an account with another name, description and picture is shown with them'
const LEAVER = 'an account that is removed goes with its channel, videos, comments and likes'
const MUTE = 'who mutes a server rejects its followers of account and channel, and takes them again afterwards'
const SUBSCRIBE = 'a user subscribes to a channel, sees its videos, ends it, and subscribes again'
const FOLLOW = 'is followed by %s on %s, given up, and followed again'
const REPORT = 'a comment and an account are reported to the server that they are of'
const MOVE = 'a video that moves to another channel is announced by that one, and no longer by the other'

const PROOFS: Proof[] = [
  nodes('Create', 'Video', 'nodes-videos', VIDEO),
  nodes('Update', 'Video', 'nodes-videos', VIDEO),
  nodes('Delete', 'Video', 'nodes-videos', VIDEO),
  nodes('Announce', 'Video', 'nodes-videos', VIDEO),
  nodes('Undo', 'Announce', 'nodes-videos', MOVE),
  nodes('Update', 'Video', 'video-parts', 'captions and chapters of one show on the other, and vanish there too'),
  nodes('Like', 'Video', 'nodes-videos', RATES),
  nodes('Dislike', 'Video', 'nodes-videos', RATES),
  nodes('Undo', 'Like', 'nodes-videos', RATES),
  nodes('Undo', 'Dislike', 'nodes-videos', RATES),
  nodes('Create', 'Note', 'nodes-comments', THREAD),
  nodes('Delete', 'Note', 'nodes-comments', 'one that its author removes is a tombstone with its replies on every node'),
  nodes('Delete', 'Note', 'nodes-comments', 'one that the owner of the video removes is gone from every node'),
  nodes('ApproveReply', 'Note', 'nodes-comments', REVIEW),
  nodes('RejectReply', 'Note', 'nodes-comments', REVIEW),
  nodes('Create', 'CacheFile', 'nodes-answers', COPY),
  nodes('Undo', 'Create', 'nodes-answers', COPY),
  nodes('Create', 'CacheFile', 'mirroring', 'is copied whole, and both nodes list the copies'),
  nodes('Create', 'Playlist', 'playlists', PLAYLISTS),
  nodes('Update', 'Playlist', 'playlists', PLAYLISTS),
  nodes('Delete', 'Playlist', 'playlists', PLAYLISTS),
  nodes('Create', 'WatchAction', 'views', WATCHED),
  nodes('View', 'Video', 'views', WATCHED),
  nodes('Update', 'Person', 'nodes-actors', ACCOUNT),
  nodes('Update', 'Application', 'nodes-actors', 'an instance with a banner is shown with it'),
  nodes('Delete', 'actor', 'nodes-actors', LEAVER),
  nodes('Follow', 'instance, account, channel', 'follow-nodes', FOLLOW),
  nodes('Accept', 'instance, account, channel', 'follow-nodes', FOLLOW),
  nodes('Undo', 'Follow', 'follow-nodes', FOLLOW),
  nodes('Reject', 'instance', 'follow-nodes', 'are rejected, accepted after all, removed, and may ask again'),
  nodes('Reject', 'account, channel', 'nodes-answers', MUTE),
  nodes('Follow', 'channel, by a user', 'nodes-answers', SUBSCRIBE),
  nodes('Flag', 'Video', 'flags', 'tell each other of reports in both directions'),
  nodes('Flag', 'Note, Person', 'nodes-answers', REPORT),
  played('Update', 'Note', 'comments', 'is edited by its author; the edit is passed on', 'no route edits a comment'),
  played('Update', 'CacheFile', 'redundancy', 'is kept for longer by an Update', 'copies of users have no end'),
  played('Update', 'Group', 'foreign', 'Update of an actor that is', 'no route changes a channel'),
  played('Update', 'Service', 'foreign', 'Update of an actor that is', 'none of ours is a bot'),
  played('Update', 'Organization', 'foreign', 'Update of an actor that is', 'none of ours is one'),
  played('Delete', 'actor', 'foreign', 'Delete of a channel', 'no route removes a single channel'),
  played('EmojiReact', 'Video', 'groups', 'an emoji reaction counts as a like', 'ours only like'),
  played('Undo', 'EmojiReact', 'groups', 'an emoji reaction counts as a like, and goes', 'ours only like'),
  played('Announce', 'an activity', 'groups', 'with the signature of its actor is believed', 'ours tell PeerTube itself'),
]

describe('what a node handles', () => {
  const proved = PROOFS.flatMap(({ activity, object }) => [activity, `${activity} ${object}`])

  it.each(HANDLED_ACTIVITIES)('%s is proved', (handled) => {
    expect(proved).toContain(handled)
  })

  it.each(PROOFS)('$activity of $object: the test in $file is there', async ({ activity, object, file, test }) => {
    expect(HANDLED_ACTIVITIES.some((handled) => [activity, `${activity} ${object}`].includes(handled))).toBe(true)
    expect(await readFile(new URL(`${file}.test.ts`, import.meta.url), 'utf8')).toContain(test)
  })
})
