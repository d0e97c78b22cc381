// The screen of remote runners: who works for the server, how others may join, and the jobs.

import { t } from '../../../platform/language.ts'
import { form, list, type Screen, screen } from './parts.ts'
import { is, state } from './words.ts'

/** Numbers of the contract: pending, processing, waiting for its parent, completing. */
const OPEN = [1, 2, 5, 9]

export const runnerScreens: readonly Screen[] = [
  screen('/admin/runners', t('Remote runners'), [
    list('runners', 'GET /api/v1/vireo/runners', {
      columns: {
        Runner: 'name',
        Version: 'version',
        Address: 'ip',
        'Last contact': 'lastContact',
        'Jobs now': 'jobs',
        Failures: 'failures',
      },
      actions: { remove: { label: t('Remove'), operation: 'DELETE /api/v1/runners/:runnerId', danger: true } },
      empty: t('No runner is registered.'),
    }),
    list('tokens', 'GET /api/v1/runners/registration-tokens', {
      title: t('Tokens with which runners register'),
      columns: { Token: 'registrationToken', Runners: 'registeredRunnersCount', Since: 'createdAt' },
      actions: {
        remove: {
          label: t('Remove with its runners'),
          operation: 'DELETE /api/v1/runners/registration-tokens/:registrationTokenId',
          danger: true,
        },
      },
      empty: t('There is no token.'),
    }),
    form('token', 'POST /api/v1/runners/registration-tokens/generate', {
      button: t('Make a token'),
      said: t('The token is in the list.'),
    }),
    list('jobs', 'GET /api/v1/runners/jobs', {
      title: t('Jobs of runners'),
      id: 'uuid',
      columns: {
        Job: 'type',
        State: state('state', [2, 9]),
        'Done, in percent': 'progress',
        Runner: 'runner.name',
        Failures: 'failures',
        Problem: 'error',
        Created: 'createdAt',
      },
      actions: {
        cancel: { label: t('Cancel'), operation: 'POST /api/v1/runners/jobs/:jobUUID/cancel', danger: true, when: is('state.id', ...OPEN) },
        delete: { label: t('Delete'), operation: 'DELETE /api/v1/runners/jobs/:jobUUID', danger: true },
      },
      empty: t('No jobs.'),
    }),
  ]),
]
