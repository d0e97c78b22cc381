// Whether the configuration enables mail.

import { expect, it } from '@jest/globals'
import { isMailEnabled } from '../../../src/config/index.ts'
import { testConfig } from '../../support/config.ts'

it.each([
  ['nothing', {}, false],
  ['an empty host name', { hostname: '' }, false],
  ['a mail server', { hostname: 'mail.example' }, true],
  ['a command that is not the transport', { sendmail: '/usr/sbin/sendmail' }, false],
  ['the command', { transport: 'sendmail', sendmail: '/usr/sbin/sendmail' }, true],
  ['the transport without its command', { transport: 'sendmail', hostname: 'mail.example' }, false],
])('with %s', (_what, smtp, enabled) => {
  expect(isMailEnabled(testConfig({ smtp }))).toBe(enabled)
})
