// Names of jobs in the public list, and data that it hides.

import { describe, expect, it } from '@jest/globals'
import { readJobId, writeJobId } from '../../../src/actors/job-queue/job-ids.ts'
import { JOB_NAMES, LANE_NAMES, refuseNameless, TASK_NAMES } from '../../../src/actors/job-queue/job-names.ts'
import { type JobSubject, payloadOf } from '../../../src/actors/job-queue/payload.ts'
import { shownData } from '../../../src/actors/job-queue/shown.ts'
import { makeRegistry } from '../../../src/actors/runtime/registry.ts'
import { remoteTypes } from '../../../src/actors/transcoding/remote-jobs.ts'
import { JOB_TYPE_NAMES } from '../../../src/config/index.ts'
import { REQUIRED } from '../../../src/required.ts'

describe('names of jobs', () => {
  it('are those of the contract, one for each kind of job and lane', () => {
    // These have no handler here.
    const ofRunners = [...remoteTypes, 'video-studio-transcoding', 'video-transcription']
    expect(Object.keys(JOB_NAMES).toSorted()).toEqual([...REQUIRED.jobs, ...ofRunners].toSorted())
    // Encoding of lives is no job of the contract.
    expect([...Object.keys(LANE_NAMES), 'live-encoding'].toSorted()).toEqual([...REQUIRED.lanes].toSorted())
    for (const name of Object.values({ ...JOB_NAMES, ...LANE_NAMES, ...TASK_NAMES })) {
      expect(JOB_TYPE_NAMES).toContain(name)
    }
  })

  it('keep internal names where the contract uses the same', () => {
    for (const [own, name] of Object.entries(JOB_NAMES)) {
      if (JOB_TYPE_NAMES.some((known) => known === own)) expect(name).toBe(own)
    }
  })

  it('are checked at the start', () => {
    const registry = makeRegistry()
    const run = async () => {}
    for (const name of Object.keys(TASK_NAMES)) registry.periodic(name, { everyMs: () => 1, run })
    expect(() => refuseNameless(registry)).not.toThrow()
    registry.job('new-work', { queue: 'io', run })
    expect(() => refuseNameless(registry)).toThrow('job new-work')
  })
})

describe('an id in the list', () => {
  it.each([
    ['17', 'job', 17],
    ['delivery-17', 'delivery', 17],
    ['inbox-17', 'inbox', 17],
  ] as const)('%s is parsed from its written form', (text, source, id) => {
    expect(readJobId(text)).toMatchObject({ source, id })
    expect(writeJobId(source, id, '')).toBe(text)
  })

  it('of a periodic task has its name', () => {
    expect(readJobId('repeat:fold-views')).toEqual({ source: 'task', id: 0, name: 'fold-views' })
    expect(writeJobId('task', 0, 'fold-views')).toBe('repeat:fold-views')
  })

  it.each(['', '-1', 'job-1', 'delivery-', 'inbox-x', '1.5', '1'.repeat(16), 'repeat:', 'repeat:a b'])('is not "%s"', (text) =>
    expect(readJobId(text)).toBeUndefined(),
  )
})

it('visible data has numbers and ids, and no secrets', () => {
  expect(shownData({ videoId: 3, uri: 'https://a:b@x.example/?token=c', mail: 'reset-password' })).toEqual({
    videoId: 3,
    uri: 'https://[hidden]@x.example/?token=[hidden]',
    mail: 'reset-password',
  })
})

describe('the subject of a job', () => {
  const nothing: JobSubject = { video: null, actorUrl: null, import: null, tasks: null }
  const uuid = '9c9de5e8-0a1e-484a-b099-e80766180a6d'
  const url = 'https://video.example/w/1'
  const video = { uuid, url, privacy: 1, state: 'published', onlyFileId: null }

  it.each([
    ['generate-video-storyboard', { videoId: 3 }, { video }, { videoUUID: uuid, federate: true }],
    ['generate-video-storyboard', { videoId: 3 }, { video: { ...video, privacy: 3 } }, { videoUUID: uuid, federate: false }],
    ['generate-video-storyboard', { videoId: 3 }, { video: { ...video, state: 'transcoding' } }, { videoUUID: uuid, federate: false }],
    ['generate-video-storyboard', { videoId: 3 }, {}, { videoId: 3 }],
    ['federate-video', { videoId: 3 }, { video }, { videoUUID: uuid, isNewVideoForFederation: false }],
    [
      'manage-video-torrent',
      { videoId: 3, action: 'create' },
      { video: { ...video, onlyFileId: 7 } },
      { videoId: 3, action: 'create', videoFileId: 7 },
    ],
    ['manage-video-torrent', { videoId: 3, action: 'create' }, { video }, { videoId: 3, action: 'create' }],
    ['video-redundancy', { redundancyId: 1, videoId: 3 }, { video }, { redundancyId: 1, videoId: 3 }],
    ['move-to-object-storage', { videoId: 3 }, { video }, { videoUUID: uuid, isNewVideo: false }],
    ['video-transcoding', { transcodingId: 5 }, { video }, { transcodingId: 5, videoUUID: uuid }],
    ['video-import', { importId: 5 }, { video, import: { type: 'magnet-uri' } }, { videoImportId: 5, videoUUID: uuid, type: 'magnet-uri' }],
    [
      'video-studio-edition',
      { editionId: 5 },
      {
        video,
        tasks: [
          { name: 'cut', start: 1, end: null, file: null },
          { name: 'add-intro', start: null, end: null, file: 'intro.mp4' },
        ],
      },
      {
        editionId: 5,
        videoUUID: uuid,
        tasks: [
          { name: 'cut', options: { start: 1 } },
          { name: 'add-intro', options: { file: 'intro.mp4' } },
        ],
      },
    ],
    [
      'activitypub-follow',
      { handle: 'news@tube.example', followerId: 4 },
      {},
      { name: 'news', host: 'tube.example', followerActorId: 4, assertIsChannel: true },
    ],
    ['activitypub-follow', { host: 'tube.example' }, {}, { host: 'tube.example' }],
    ['activitypub-follow', { host: 'tube.example', fromIndex: 1 }, {}, { host: 'tube.example', isAutoFollow: true }],
    ['activitypub-refresher', { videoId: 3 }, { video }, { videoId: 3, type: 'video', url }],
    ['activitypub-refresher', { actorId: 3 }, { actorUrl: url }, { actorId: 3, type: 'actor', url }],
    ['video-removal', { videoId: 3 }, { video }, { videoId: 3, videoUUID: uuid, task: 'video-removal' }],
  ] as const)('%s %j', (own, data, subject, shown) => {
    const type = JOB_NAMES[own] ?? 'notify'
    expect(payloadOf(own, type, data, { ...nothing, ...subject } as JobSubject)).toEqual(shown)
  })
})
