// A server that offers its jobs to remote runners, and the runners of tests.

import { openAsBlob } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, login } from '../../../scripts/demo/client.ts'
import type { Values } from '../../../src/config/layers.ts'
import type { Ffmpeg } from '../../../src/media/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeProtocol, type Protocol } from '../../../src/remote-runner/protocol.ts'
import { runRemoteRunner } from '../../../src/remote-runner/runner.ts'
import { type MediaName, media, serverFfmpeg } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'

export interface RunnerHarness {
  node: TestNode
  admin: Client
  protocol: Protocol
  /** A new registration token. */
  registrationToken(): Promise<string>
  /** Registers a runner; returns its token. */
  register(name: string): Promise<string>
  upload(file: MediaName, fields?: Record<string, string>): Promise<string>
  video(uuid: string): Promise<VideoView>
  jobs(): Promise<JobView[]>
  /** A request of the protocol, with any body. */
  ask(
    path: string,
    body: object | FormData,
  ): Promise<{ status: number; body: { detail?: string; code?: string } & Record<string, unknown> }>
  /** The bytes of an input file, or the refusal. */
  fetchInput(url: string, tokens: { runnerToken: string; jobToken: string }): Promise<{ status: number; bytes: Buffer }>
  /** Starts a runner; ends it with the returned function. */
  work(runnerToken: string, options?: { protocol?: Protocol; folder?: string; ffmpegPath?: string }): Promise<() => Promise<void>>
  stop(): Promise<void>
}

export interface FileView {
  resolution: { id: number }
  hasAudio: boolean
  hasVideo: boolean
}

export interface VideoView {
  id: number
  state: { id: number }
  /** Whole seconds. */
  duration: number
  files: FileView[]
  streamingPlaylists: { playlistUrl: string; files: FileView[] }[]
}

export interface JobView {
  uuid: string
  type: string
  state: { id: number; label: string }
  failures: number
  error: string | null
  runner: { name: string } | null
  parent?: { uuid: string }
  payload: { input: Record<string, string>; output: { resolution: number } }
  privatePayload: Record<string, unknown>
}

export async function startHarness(config: Values = {}, { ffmpeg }: { ffmpeg?: Ffmpeg } = {}): Promise<RunnerHarness> {
  const node = await startTestNode({
    ...(ffmpeg ? { ffmpeg } : {}),
    config: {
      ...config,
      transcoding: {
        remote_runners: { enabled: true },
        resolutions: { '0p': false, '144p': false, '240p': true, '360p': false, '480p': false, '720p': false },
        ...(config.transcoding as object),
      },
    },
  })
  const { base } = node
  const admin = await login(base, node.username, node.password)
  const protocol = makeProtocol({ server: base, version: '1' })
  const [channel] = (await admin.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')).videoChannels

  const registrationToken = async (): Promise<string> => {
    await admin.send('POST', '/api/v1/runners/registration-tokens/generate')
    const { data } = await admin.get<{ data: { registrationToken: string }[] }>('/api/v1/runners/registration-tokens')
    return data[0]?.registrationToken ?? ''
  }

  return {
    node,
    admin,
    protocol,
    registrationToken,
    register: async (name) => await protocol.register(await registrationToken(), { name, description: 'a machine' }),
    async upload(file, fields = {}) {
      const form = new FormData()
      const all = { name: 'A video', channelId: String(channel?.id), privacy: '1', waitTranscoding: 'true', ...fields }
      for (const [name, value] of Object.entries(all)) form.set(name, value)
      form.set('videofile', await openAsBlob(await media(file)), file)
      return (await admin.send<{ video: { uuid: string } }>('POST', '/api/v1/videos/upload', form)).video.uuid
    },
    video: (uuid) => admin.get(`/api/v1/videos/${uuid}`),
    jobs: async () => (await admin.get<{ data: JobView[] }>('/api/v1/runners/jobs?sort=createdAt&count=100')).data,
    async ask(path, body) {
      const isForm = body instanceof FormData
      const response = await fetch(`${base}/api/v1/runners/${path}`, {
        method: 'POST',
        ...(isForm ? { body } : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
    },
    async fetchInput(url, tokens) {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(tokens), headers })
      return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
    },
    async work(runnerToken, options = {}) {
      const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'vireo-runner-')))
      const end = new AbortController()
      const ffmpeg = await serverFfmpeg()
      const working = runRemoteRunner({
        protocol: options.protocol ?? protocol,
        runnerToken,
        ffmpeg: { ...ffmpeg, ffmpegPath: options.ffmpegPath ?? ffmpeg.ffmpegPath },
        limits: { stallMs: 30_000, maxMemoryBytes: 2 ** 31 },
        threads: 1,
        concurrency: 1,
        requestEvery: 50,
        reportEvery: 200,
        folder,
        logger: silentLogger,
        signal: end.signal,
      })
      return async () => {
        end.abort()
        await working
        if (options.folder === undefined) await rm(folder, { recursive: true, force: true })
      }
    },
    stop: () => node.stop(),
  }
}
