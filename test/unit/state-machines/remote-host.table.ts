// Every move of the machine `remote-host`.

import { dueIn, initialRemoteHost, type RemoteHostSettings, remoteHostMachine } from '../../../src/state-machines/remote-host.ts'
import { defineTable } from './table.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const settings: RemoteHostSettings = { initial_backoff: minute, max_backoff: 12 * hour, give_up_after: 7 * day }

const failed = (at: number, retryAfter?: number) =>
  ({ type: 'FAILED', at, settings, ...(retryAfter === undefined ? {} : { retryAfter }) }) as const
const failing = { failures: 2, failingSince: 1000, failedAt: 2000, retryAfter: 5, isHeard: false, isRetried: false }

export const table = defineTable({
  machine: remoteHostMachine,
  starts: ['healthy'],
  context: initialRemoteHost.context,
  settings,
  dueIn,
  rows: [
    { from: 'healthy', event: { type: 'SUCCEEDED' }, to: 'healthy' },
    { from: 'healthy', event: { type: 'HEARD' }, to: 'healthy' },
    { from: 'healthy', event: { type: 'RETRIED' }, to: 'healthy' },
    {
      from: 'healthy',
      event: failed(1000),
      to: 'failing',
      gives: { failures: 1, failingSince: 1000, failedAt: 1000, retryAfter: 0 },
    },
    {
      from: 'healthy',
      event: failed(1000, 30_000),
      to: 'failing',
      gives: { failures: 1, failingSince: 1000, failedAt: 1000, retryAfter: 30_000 },
    },

    { from: 'failing', with: failing, event: { type: 'SUCCEEDED' }, to: 'healthy', gives: initialRemoteHost.context },
    { from: 'failing', with: failing, event: { type: 'HEARD' }, to: 'failing', gives: { ...failing, isHeard: true } },
    {
      from: 'failing',
      with: { ...failing, isHeard: true, isRetried: true },
      event: failed(3000),
      to: 'failing',
      gives: { failures: 3, failedAt: 3000, retryAfter: 0, isHeard: false, isRetried: false },
    },
    { from: 'failing', with: failing, event: { type: 'RETRIED' }, to: 'failing', gives: { isRetried: true } },
    { from: 'failing', with: failing, event: { type: 'TIMED_OUT' }, to: 'failing' },
    {
      from: 'failing',
      with: failing,
      event: failed(1000 + 7 * day - 1),
      to: 'failing',
      gives: { failures: 3, failedAt: 1000 + 7 * day - 1, retryAfter: 0 },
    },
    {
      from: 'failing',
      with: failing,
      event: failed(1000 + 7 * day, -4),
      to: 'dormant',
      gives: { failures: 3, failedAt: 1000 + 7 * day, retryAfter: 0 },
    },

    { from: 'dormant', with: failing, event: { type: 'RETRIED' }, to: 'healthy', gives: initialRemoteHost.context },
    { from: 'dormant', with: failing, event: { type: 'SUCCEEDED' }, to: 'healthy', gives: initialRemoteHost.context },
    { from: 'dormant', with: failing, event: { type: 'HEARD' }, to: 'healthy', gives: initialRemoteHost.context },
    { from: 'dormant', with: failing, event: failed(9 * day), to: 'dormant' },
  ],
  dues: [
    { state: 'healthy', ms: null },
    { state: 'failing', with: { failures: 1 }, ms: minute },
    { state: 'failing', with: { failures: 3 }, ms: 4 * minute },
    { state: 'failing', with: { failures: 30 }, ms: 12 * hour },
    { state: 'failing', with: { failures: 30, isHeard: true }, ms: 5_000 },
    { state: 'failing', with: { failures: 30, isHeard: true, retryAfter: hour }, ms: hour },
    { state: 'failing', with: { failures: 30, isRetried: true }, ms: null },
    { state: 'failing', with: { failures: 2000 }, ms: 12 * hour },
    { state: 'failing', with: { failures: 1, retryAfter: hour }, ms: hour },
    { state: 'failing', with: { failures: 20, retryAfter: hour }, ms: 12 * hour },
    { state: 'failing', with: { failures: 1, retryAfter: 3650 * day }, ms: 12 * hour },
    { state: 'failing', with: { failures: 20, failingSince: 0, failedAt: 7 * day - hour }, ms: hour },
    { state: 'failing', with: { failures: 20, failingSince: 0, failedAt: 9 * day }, ms: 0 },
    { state: 'dormant', with: failing, ms: null },
  ],
})
