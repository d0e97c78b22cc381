// Remote runners: administration, and the protocol with tokens in the body.

import { newUuid } from '../../../../src/platform/ids.ts'
import { administrators, everybody, type MakeRequest, row } from '../row.ts'

const PATH = '/api/v1/runners'
const INPUT = `POST ${PATH}/jobs/:jobUUID/files/videos/:videoId`
const runnerToken = 'ptrt-nobody'
const tokens = { runnerToken, jobToken: 'ptrjt-nobody' }
const job: MakeRequest = () => ({ params: { jobUUID: newUuid() } })
const ofJob =
  (body: object, params: Record<string, string> = {}): MakeRequest =>
  () => ({ params: { jobUUID: newUuid(), ...params }, body })
const input = (params: Record<string, string> = {}) => ofJob(tokens, { videoId: newUuid(), ...params })

export const runnerRows = [
  row(`GET ${PATH}`, administrators(200)),
  row('GET /api/v1/vireo/runners', administrators(200)),
  row(`GET ${PATH}/jobs`, administrators(200)),
  row(`GET ${PATH}/registration-tokens`, administrators(200)),
  row(`POST ${PATH}/registration-tokens/generate`, administrators(204)),
  row(`DELETE ${PATH}/registration-tokens/:registrationTokenId`, administrators(404), () => ({
    params: { registrationTokenId: 2_000_000_000 },
  })),
  row(`DELETE ${PATH}/:runnerId`, administrators(404), () => ({ params: { runnerId: 2_000_000_000 } })),
  row(`DELETE ${PATH}/jobs/:jobUUID`, administrators(404), job),
  row(`POST ${PATH}/jobs/:jobUUID/cancel`, administrators(404), job),
  row(`POST ${PATH}/register`, everybody(404), () => ({
    body: { registrationToken: 'ptrrt-nobody', name: 'one', description: 'a machine' },
  })),
  row(`POST ${PATH}/unregister`, everybody(404), () => ({ body: { runnerToken } })),
  row(`POST ${PATH}/jobs/request`, everybody(404), () => ({ body: { runnerToken } })),
  row(`POST ${PATH}/jobs/:jobUUID/accept`, everybody(404), ofJob({ runnerToken })),
  row(`POST ${PATH}/jobs/:jobUUID/abort`, everybody(404), ofJob({ ...tokens, reason: 'no space' })),
  row(`POST ${PATH}/jobs/:jobUUID/error`, everybody(404), ofJob({ ...tokens, message: 'no ffmpeg' })),
  row(`POST ${PATH}/jobs/:jobUUID/update`, everybody(404), ofJob({ ...tokens, progress: 5 })),
  row(`POST ${PATH}/jobs/:jobUUID/success`, everybody(404), ofJob({ ...tokens, payload: {} })),
  row(`${INPUT}/max-quality`, everybody(404), input()),
  row(`${INPUT}/max-quality/audio`, everybody(404), input()),
  row(`${INPUT}/previews/max-quality`, everybody(404), input()),
  row(`${INPUT}/studio/task-files/:filename`, everybody(404), input({ filename: 'intro.mp4' })),
]
