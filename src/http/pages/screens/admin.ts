// Screens that run the server: overview, setup, jobs, configuration, logs.

import { Html, html } from '../../../platform/html.ts'
import { known, type Localized, recognized, t, type Word, wordIn } from '../../../platform/language.ts'
import { languages } from '../../../platform/languages.ts'
import { tabs } from '../bodies/listing.ts'
import { capital, size } from '../bodies/text.ts'
import { customMarkup } from '../custom-markup.ts'
import { textAt, valueAt } from './api.ts'
import { newChannel } from './channels.ts'
import { type FieldWords, type Words, wordsOf } from './fields.ts'
import { type FormPart, form, list, type Screen, type Shown, screen } from './parts.ts'
import { facts, is, isNot, picture, reportColumns } from './words.ts'

const CONFIG = 'GET /api/v1/config/custom'
const MAIL = 'GET /api/v1/vireo/mail-server'
const FIELDS = 'GET /api/v1/vireo/config-fields'

const MAIL_WORDS = ['SMTP', 'TLS', t('Mail'), t('Mail server'), t('Port'), t('User name'), t('Password'), t('Sender of mails')]

const mailForm = form('mail', 'PUT /api/v1/vireo/mail-server', {
  title: t('Mail'),
  when: (shown) => shown.tools.config().smtp.transport === 'smtp' && isFound(shown, 'mail', MAIL_WORDS),
  text: t('The mail server that sends notifications and forgotten passwords. Without one no mail is sent.'),
  initial: ({ data }) => data.mail,
  changesOnly: true,
  fields: (shown) =>
    locking(shown, valueAt(shown.data.mail, 'pinned') as string[], {
      hostname: { label: t('Mail server'), help: t('Such as mail.example') },
      port: { label: t('Port') },
      tls: { label: t('Encrypted from the first byte'), help: t('Usual for port 465, not for 587.') },
      username: { label: t('User name') },
      password: { label: t('Password'), as: 'password', nullable: false, help: t('Empty if it stays.') },
      from_address: { label: t('Sender of mails') },
    }),
})

/** True if the section is open, or all are, and the search finds one of the words in any language. */
function isFound({ query }: Shown, section: string, words: readonly Word[]): boolean {
  const [open = section, search = ''] = [query('section'), query('search')?.toLowerCase()]
  const texts = languages.flatMap((language) => words.map((word) => String(wordIn(word, language)).toLowerCase()))
  return open === section && texts.some((text) => text.includes(search))
}

const pictureOfServer = (name: 'avatar' | 'banner', title: Localized): FormPart => ({
  ...picture(name, title, `POST /api/v1/config/instance-${name}/pick`),
  when: (shown) => isFound(shown, 'instance', [title]),
})

const configForms: readonly FormPart[] = [
  form('config', 'PUT /api/v1/config/custom', {
    when: (shown) => Object.keys(shownSettings(shown)).length > 0,
    initial: ({ data }) => data.config,
    changesOnly: true,
    fields: shownSettings,
  }),
  mailForm,
  pictureOfServer('avatar', t('Picture of the server')),
  pictureOfServer('banner', t('Banner of the server')),
]

/** The fields, of which the environment of the server sets some, or its files lock all. */
function locking({ tools }: Shown, pinned: readonly string[], words: Readonly<Record<string, FieldWords>>): Words {
  const isOpen = tools.config().webadmin.configuration.edition.allowed
  const locked = isOpen
    ? t('Set in the environment of the server, and locked here.')
    : t('Locked by webadmin.configuration.edition.allowed.')
  return Object.fromEntries(
    Object.entries(words).map(([name, word]) => [name, isOpen && !pinned.includes(name) ? word : { ...word, locked }]),
  )
}

const problemOfJob = (row: unknown): string => textAt(row, 'error.message') || textAt(row, 'error')
const isOpen = is('state', 'waiting', 'prioritized', 'waiting-children', 'delayed', 'active')
const isOpenJob = (row: unknown): boolean => isOpen(row) && /^\d+$/.test(textAt(row, 'id'))
const RETRY = { label: t('Try again'), operation: 'POST /api/v1/vireo/jobs/:id/retry' } as const

export const overviewScreens: readonly Screen[] = [
  screen(
    '/admin/overview',
    t('Overview'),
    { needs: 'GET /api/v1/jobs', reads: { stats: 'GET /api/v1/server/stats', status: 'GET /api/v1/vireo/status' } },
    [
      ({ data: { status, stats } }) =>
        facts([
          [t('Version'), valueAt(status, 'version')],
          [t('State'), valueAt(status, 'health.status') === 'ready' ? t('Good') : known(wordsOf(textAt(status, 'health.status')))],
          [t('Free on the disk'), valueAt(status, 'disk') && size(Number(valueAt(status, 'disk.free')))],
          [t('Waiting jobs'), valueAt(status, 'backlog.waitingJobs')],
          [t('Running jobs'), valueAt(status, 'backlog.activeJobs')],
          [t('Waiting deliveries'), valueAt(status, 'backlog.waitingDeliveries')],
          [t('Activities of others that wait'), valueAt(status, 'backlog.waitingActivities')],
          [t('Users'), valueAt(stats, 'totalUsers')],
          [t('Videos of this server'), valueAt(stats, 'totalLocalVideos')],
          [t('Views'), valueAt(stats, 'totalLocalVideoViews')],
          [t('Comments'), valueAt(stats, 'totalLocalVideoComments')],
          [t('Files'), size(Number(valueAt(stats, 'totalLocalVideoFilesSize') ?? 0))],
          [t('Videos of all servers'), valueAt(stats, 'totalVideos')],
          [t('Following'), valueAt(stats, 'totalInstanceFollowing')],
          [t('Followers'), valueAt(stats, 'totalInstanceFollowers')],
        ]),
      list('reports', 'GET /api/v1/abuses', {
        title: t('Reports that nobody has decided'),
        query: () => ({ state: '1' }),
        columns: reportColumns,
      }),
      list('peers', 'GET /api/v1/vireo/peers', {
        title: t('Other servers'),
        id: 'host',
        columns: {
          Server: 'host',
          State: 'state',
          Software: 'software.name',
          'Waiting deliveries': 'waitingDeliveries',
          'Last success': 'lastSuccessAt',
          'Last error': 'lastError',
        },
        filters: { state: t('State') },
        actions: {
          retry: { label: t('Try now'), operation: 'POST /api/v1/vireo/peers/:host/retry' },
          block: { label: t('Block'), operation: 'POST /api/v1/server/blocklist/servers', body: (host) => ({ host }), danger: true },
        },
        empty: t('No other server is known yet.'),
      }),
      list('failed', 'GET /api/v1/jobs/:state', {
        title: t('Failed jobs'),
        at: { state: 'failed' },
        columns: { Job: 'type', Problem: problemOfJob, At: 'finishedOn' },
        actions: { retry: RETRY },
        empty: t('No job failed.'),
      }),
    ],
  ),
  screen('/admin/setup', t('Set up your server'), { unlisted: true, reads: { config: CONFIG, mail: MAIL, fields: FIELDS } }, [
    form('setup', 'PUT /api/v1/config/custom', {
      initial: ({ data }) => data.config,
      changesOnly: true,
      text: t('All of it can be changed later.'),
      fields: (shown) =>
        locking(shown, pinnedOf(shown), {
          'instance.name': { label: t('Name') },
          'instance.shortDescription': { label: t('Short description'), as: 'long' },
          'signup.enabled': { label: t('People may sign up'), as: 'check' },
          'signup.requiresApproval': { label: t('Moderators look at each request'), as: 'check' },
          'signup.requiresEmailVerification': { label: t('E-mail addresses are verified'), as: 'check' },
          'signup.limit': { label: t('At most this many users'), help: t('-1 for any number.') },
        }),
    }),
    mailForm,
    newChannel,
    form('done', 'PUT /api/v1/users/me', {
      fixed: () => ({ noInstanceConfigWarningModal: true }),
      text: t('Save each part above before you go on.'),
      button: t('Go on'),
      leadsTo: () => '/videos/upload',
    }),
  ]),
]

/** Lines of a log, of so many milliseconds. */
const since = (ms: number) => ({
  query: () => ({ startDate: new Date(Date.now() - ms).toISOString() }),
  columns: { At: 'timestamp', Level: 'level', Message: 'message' },
})
/** Each with those that are more severe. */
const LEVELS = { debug: t('All'), info: t('Info and above'), warn: t('Warnings and errors'), error: t('Errors only') }
const MARKS: Readonly<Record<string, Localized>> = { ok: t('Good'), warning: t('Warning'), problem: t('Problem') }

export const systemScreens: readonly Screen[] = [
  screen('/admin/check-up', t('Check-up'), [
    form('check', 'POST /api/v1/vireo/check-up', {
      text: t(
        'Looks at all that the server needs: database, disk, media programs, mail, its public address and more. It takes some seconds.',
      ),
      fields: { sendMailTo: { label: t('Send a test mail to') } },
      button: t('Look now'),
      shows: (answer) => {
        const rows = (valueAt(answer, 'data') ?? []) as { check: string; status: string; message: string; advice?: string }[]
        return facts(
          rows.map(({ check, status, message, advice }) => [
            known(wordsOf(check)),
            html`${MARKS[status]}: ${recognized(message)}${advice && html` <span class="soft">${recognized(advice)}</span>`}`,
          ]),
        )
      },
    }),
  ]),
  screen('/admin/jobs', t('Jobs'), [
    list('jobs', 'GET /api/v1/jobs', {
      columns: { Job: 'type', State: 'state', 'Done, in percent': 'progress', Problem: problemOfJob, Created: 'createdAt' },
      filters: { jobType: t('Kind') },
      actions: {
        retry: { ...RETRY, when: (row) => is('state', 'failed')(row) && isNot('isRemote', true)(row) },
        cancel: { label: t('Cancel'), operation: 'POST /api/v1/vireo/jobs/:id/cancel', danger: true, when: isOpenJob },
      },
      empty: t('No jobs.'),
    }),
    form('pause', 'POST /api/v1/jobs/pause', { button: t('Pause all jobs'), said: t('Jobs are paused.') }),
    form('resume', 'POST /api/v1/jobs/resume', { button: t('Resume jobs'), said: t('Jobs go on.') }),
  ]),
  screen('/admin/config', t('Configuration'), { needs: CONFIG, reads: { config: CONFIG, mail: MAIL, fields: FIELDS } }, [
    (shown) => {
      const sections = [...new Set(configFields(shown).map(sectionOf)), 'mail']
      const open = shown.query('section')
      return html`<form action="/admin/config" class="filters" role="search" aria-label="${t('Settings')}"><input type="search" name="search" aria-label="${t('Search the settings')}" placeholder="${t('Search the settings')}" value="${shown.query('search') ?? ''}"><button>${t('Show')}</button></form>
${tabs(t('Settings'), [
  { name: t('All'), path: '/admin/config', isOpen: open === undefined },
  ...sections.map((name) => ({ name: known(wordsOf(name)), path: `/admin/config?section=${name}`, isOpen: name === open })),
])}`
    },
    ...configForms,
    (shown) => (configForms.some(({ when }) => when?.(shown)) ? null : html`<p class="soft">${t('Nothing matches.')}</p>`),
  ]),
  screen('/admin/homepage', t('Home page'), { readsIfAny: { homepage: 'GET /api/v1/custom-pages/homepage/instance' } }, [
    form('homepage', 'PUT /api/v1/custom-pages/homepage/instance', {
      initial: ({ data }) => data.homepage,
      fields: {
        content: { label: t('Content'), as: 'long', help: t('Markdown, with HTML. Without it the home page is a list of videos.') },
      },
      preview: (text, { tools }) => new Html([(language) => customMarkup(text('content'), tools.urls.origin, language).in(language)]),
    }),
  ]),
  screen('/admin/logs', t('Logs'), [
    list('logs', 'GET /api/v1/vireo/logs', {
      ...since(3_600_000),
      title: t('Logs of the last hour'),
      filters: { level: { label: t('Level'), choices: LEVELS } },
    }),
    list('audit-logs', 'GET /api/v1/vireo/audit-logs', { ...since(7 * 86_400_000), title: t('Changes of the last week') }),
  ]),
]

type ConfigField = { name: string; about: string; isPinned: boolean }

const configFields = ({ data }: Shown) => valueAt(data.fields, 'data') as ConfigField[]
const sectionOf = ({ name }: ConfigField) => name.split('.')[0] ?? ''
const pinnedOf = (shown: Shown): string[] => configFields(shown).flatMap(({ name, isPinned }) => (isPinned ? [name] : []))

/** The settings of the open section, or those that a search finds. */
function shownSettings(shown: Shown): Words {
  const words = configFields(shown).flatMap((field): [string, FieldWords][] => {
    const section = sectionOf(field)
    const label = recognized(wordsOf(field.name.slice(section.length + 1)))
    const [group, help] = [known(wordsOf(section)), recognized(`${capital(field.about)}.`)]
    return isFound(shown, section, [field.name, label, group, help]) ? [[field.name, { label, group, help }]] : []
  })
  return locking(shown, pinnedOf(shown), Object.fromEntries(words))
}
