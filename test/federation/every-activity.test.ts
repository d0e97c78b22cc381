// Lists, for each activity, the test that proves its effect on another server. Tests use real nodes over REST, or a fake peer where nodes
// cannot send the activity.

import { readFile } from 'node:fs/promises'
import { describe, expect, it } from '@jest/globals'
import { HANDLED_ACTIVITIES } from './handled-activities.ts'

interface Proof {
  activity: string
  object: string
  file: string
  /** Name of the test, or a part of it. */
  test: string
  /** Why real nodes cannot do it. */
  fakePeer?: string
}

const nodes = (activity: string, object: string, file: string, test: string): Proof => ({
  activity,
  object,
  file,
  test,
})
const faked = (activity: string, object: string, file: string, test: string, why: string): Proof => ({
  activity,
  object,
  file,
  test,
  fakePeer: why,
})

const VIDEO = 'a video arrives with its channel, changes and is removed, on every node'
const RATES = "likes and dislikes are counted at the video's node, undone, and sent to all nodes that have it"
const THREAD = "a thread and its replies are shown on every node with their authors, sent by the video owner's node alone"
const REVIEW = 'a comment pending review is hidden everywhere, then approved for all, or rejected'
const PLAYLISTS = '%s has the playlists of %s after a follow: old and new ones, their changes and their removal'
const COPY = "a copy made by one node is listed by the video's server and nobody else, and is removed with its source"
const WATCHED = 'a view on one node of a video of the other counts on both, viewers are shown, and watched segments arrive'
const ACCOUNT = 'an account with a new name, description and picture is shown with them'
const REMOVAL = 'a removed account is gone with its channel, videos, comments and likes'
const MUTE = 'a mute of a server rejects its followers of account and channel, and they are accepted again afterwards'
const SUBSCRIBE = 'a user subscribes to a channel, sees its videos, unsubscribes, and subscribes again'
const FOLLOW = 'is followed by %s on %s, unfollowed, and followed again'
const REPORT = 'a comment and an account are reported to their server'
const MOVE = 'a video that moves to another channel is announced by the new one, and no longer by the old one'

const PROOFS: Proof[] = [
  nodes('Create', 'Video', 'nodes-videos', VIDEO),
  nodes('Update', 'Video', 'nodes-videos', VIDEO),
  nodes('Delete', 'Video', 'nodes-videos', VIDEO),
  nodes('Announce', 'Video', 'nodes-videos', VIDEO),
  nodes('Undo', 'Announce', 'nodes-videos', MOVE),
  nodes('Update', 'Video', 'video-parts', 'captions and chapters of one node are shown on the other, and vanish there too'),
  nodes('Like', 'Video', 'nodes-videos', RATES),
  nodes('Dislike', 'Video', 'nodes-videos', RATES),
  nodes('Undo', 'Like', 'nodes-videos', RATES),
  nodes('Undo', 'Dislike', 'nodes-videos', RATES),
  nodes('Create', 'Note', 'nodes-comments', THREAD),
  nodes('Delete', 'Note', 'nodes-comments', 'a comment removed by its author is a tombstone with its replies on every node'),
  nodes('Delete', 'Note', 'nodes-comments', 'a comment removed by the video owner is gone from every node'),
  nodes('ApproveReply', 'Note', 'nodes-comments', REVIEW),
  nodes('RejectReply', 'Note', 'nodes-comments', REVIEW),
  nodes('Create', 'CacheFile', 'nodes-subscriptions', COPY),
  nodes('Undo', 'Create', 'nodes-subscriptions', COPY),
  nodes('Create', 'CacheFile', 'mirroring', 'is copied whole, and both nodes list the copies'),
  nodes('Create', 'Playlist', 'playlists', PLAYLISTS),
  nodes('Update', 'Playlist', 'playlists', PLAYLISTS),
  nodes('Delete', 'Playlist', 'playlists', PLAYLISTS),
  nodes('Create', 'WatchAction', 'views', WATCHED),
  nodes('View', 'Video', 'views', WATCHED),
  nodes('Update', 'Person', 'nodes-actors', ACCOUNT),
  nodes('Update', 'Application', 'nodes-actors', 'an instance with a banner is shown with it'),
  nodes('Delete', 'actor', 'nodes-actors', REMOVAL),
  nodes('Follow', 'instance, account, channel', 'follow-nodes', FOLLOW),
  nodes('Accept', 'instance, account, channel', 'follow-nodes', FOLLOW),
  nodes('Undo', 'Follow', 'follow-nodes', FOLLOW),
  nodes('Reject', 'instance', 'follow-nodes', 'are rejected, accepted afterwards, removed, and may follow again'),
  nodes('Reject', 'account, channel', 'nodes-subscriptions', MUTE),
  nodes('Follow', 'channel, by a user', 'nodes-subscriptions', SUBSCRIBE),
  nodes('Flag', 'Video', 'flags', 'send each other reports in both directions'),
  nodes('Flag', 'Note, Person', 'nodes-subscriptions', REPORT),
  faked('Update', 'Note', 'comments', 'is edited by its author; the edit is forwarded', 'no route edits a comment'),
  faked('Update', 'CacheFile', 'redundancy', 'is extended by an Update', 'copies of users have no end'),
  faked('Update', 'Group', 'unauthorized-activities', 'Update of an actor that is', 'no route changes a channel'),
  faked('Update', 'Service', 'unauthorized-activities', 'Update of an actor that is', 'no local actor is a bot'),
  faked('Update', 'Organization', 'unauthorized-activities', 'Update of an actor that is', 'no local actor is one'),
  faked('Delete', 'actor', 'unauthorized-activities', 'Delete of a channel', 'no route removes a single channel'),
  faked('EmojiReact', 'Video', 'groups', 'an emoji reaction counts as a like', 'nodes only send Like'),
  faked('Undo', 'EmojiReact', 'groups', 'an emoji reaction counts as a like, and goes', 'nodes only send Like'),
  faked('Announce', 'an activity', 'groups', 'with the signature of its actor is accepted', 'nodes send PeerTube the activity itself'),
]

describe('what a node handles', () => {
  const proved = PROOFS.flatMap(({ activity, object }) => [activity, `${activity} ${object}`])

  it.each(HANDLED_ACTIVITIES)('%s has a test', (handled) => {
    expect(proved).toContain(handled)
  })

  it.each(PROOFS)('$activity of $object: the test in $file is there', async ({ activity, object, file, test }) => {
    expect(HANDLED_ACTIVITIES.some((handled) => [activity, `${activity} ${object}`].includes(handled))).toBe(true)
    expect(await readFile(new URL(`${file}.test.ts`, import.meta.url), 'utf8')).toContain(test)
  })
})
