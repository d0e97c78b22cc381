// Pages, and descriptions of the API.

import { screens } from '../../../../src/http/pages/screens/screens.ts'
import { visitorScreens } from '../../../../src/http/pages/screens/visitors.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { everybody, row } from '../row.ts'

const PRIVATE = 3
const PROTECTED = 5
const html = { accept: 'text/html' }

const page = (columns: Record<string, unknown>) => async (fixtures: RouteFixtures) => ({
  headers: html,
  params: { id: (await fixtures.video(columns)).uuid },
})

const channelPage = (fixtures: RouteFixtures) => ({ headers: html, params: { name: `${fixtures.users.user.username}_channel` } })
const accountPage = (fixtures: RouteFixtures) => ({ headers: html, params: { name: fixtures.users.user.username } })
/** Not sent from a page of this site. */
const form = () => ({ headers: html, body: new URLSearchParams({ token: 'f00' }) })
const lockedPage = page({ privacy: PROTECTED })
const wrongPassword = async (fixtures: RouteFixtures) => ({
  ...(await lockedPage(fixtures)),
  body: new URLSearchParams({ password: 'not this one' }),
})

const playlistPage = (columns: Record<string, unknown>) => async (fixtures: RouteFixtures) => ({
  headers: html,
  params: { id: (await fixtures.playlist(columns)).uuid },
})

const anyAddress = (address: string) => () => ({ headers: html, params: { '*': address } })

const unsubscribe = () => ({ params: { userId: 1, setting: 'newCommentOnMyVideo', signature: 'f00' } })

/** Not sent from a page of this site. */
const piece = (method: string) => () => ({
  headers: { 'content-type': 'application/octet-stream', 'x-form-token': 'f00' },
  ...(method === 'DELETE' ? {} : { body: Buffer.from('bytes') }),
})
/** The URL of a screen that needs no object before the login. */
const screen = (path: string) => () => ({
  headers: html,
  params: Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, 1])),
})

export const pageRows = [
  ...screens.flatMap(({ path }) => [
    row(`GET ${path}`, everybody(303), screen(path)),
    row(`POST ${path}`, everybody(403), () => ({ ...screen(path)(), ...form() })),
  ]),
  ...['PUT', 'DELETE'].flatMap((method) => [
    row(`${method} /videos/upload/pieces`, everybody(403), piece(method)),
    row(`${method} /my-library/videos/:id/source/pieces`, everybody(403), () => ({ ...piece(method)(), params: { id: 1 } })),
    row(`${method} /my-account/import-export/pieces`, everybody(403), piece(method)),
  ]),
  row('GET /', everybody(200)),
  row('GET /about', everybody(200)),
  row('GET /about/instance', everybody(200)),
  ...['/home', '/videos', '/videos/overview', '/discover', '/videos/recently-added', '/videos/trending', '/videos/hot'].map((path) =>
    row(`GET ${path}`, everybody(302)),
  ),
  ...['/videos/best', '/videos/most-viewed', '/videos/most-liked', '/videos/local'].map((path) => row(`GET ${path}`, everybody(302))),
  row('GET /videos/browse', everybody(200)),
  row('GET /search', everybody(200)),
  ...['', '/videos', '/video-playlists', '/about'].flatMap((tab) => [
    row(`GET /c/:name${tab}`, everybody(200), channelPage),
    row(`GET /video-channels/:name${tab}`, everybody(200), channelPage),
  ]),
  ...['', '/video-channels', '/videos', '/video-playlists', '/about'].flatMap((tab) => [
    row(`GET /a/:name${tab}`, everybody(200), accountPage),
    row(`GET /accounts/:name${tab}`, everybody(200), accountPage),
    row(`GET /@:name${tab}`, everybody(200), accountPage),
  ]),
  // Unknown tabs.
  ...['/c/:name/*', '/video-channels/:name/*', '/a/:name/*', '/accounts/:name/*', '/@:name/*'].map((path) =>
    row(`GET ${path}`, everybody(404), () => ({ headers: html, params: { name: 'root', '*': 'nothing-here' } })),
  ),
  // Pages ignore API tokens: all callers are visitors there.
  row('GET /videos/subscriptions', everybody(303)),
  row('GET /login', everybody(200)),
  row('POST /login', everybody(403), form),
  row('GET /logout', everybody(303)),
  row('POST /logout', everybody(403), form),
  ...visitorScreens.flatMap(({ path }) => [
    // Without a token; valid ones are tested with the mails.
    row(`GET ${path}`, everybody(path === '/verify-account/email' || path === '/reset-password' ? 403 : 200)),
    row(`POST ${path}`, everybody(403), form),
  ]),
  row('GET /my-account/import-export/download', everybody(303)),
  row('POST /subscriptions', everybody(403), form),
  row('POST /remote-subscribe', everybody(403), form),
  row('POST /language', everybody(403), form),
  row('POST /theme', everybody(403), form),
  row('GET /remote-interaction', everybody(200)),
  row('GET /.well-known/change-password', everybody(302)),
  row('GET /.well-known/dnt', everybody(200)),
  row('GET /.well-known/dnt-policy.txt', everybody(200)),
  row('GET /.well-known/security.txt', everybody(200)),
  row('GET /security.txt', everybody(301)),
  row('GET /robots.txt', everybody(200)),
  row('GET /.well-known/*', everybody(404), anyAddress('nothing-here')),
  row('GET /sitemap.xml', everybody(200)),
  row('GET /sitemap-:page.xml', everybody(404), () => ({ params: { page: 7 } })),
  row('GET /manifest.webmanifest', everybody(200)),
  row('GET /opensearch.xml', everybody(200)),
  row('GET /favicon.ico', everybody(200)),
  row('GET /client/*', everybody(200), anyAddress('assets/images/favicon.png')),
  row('GET /client/*', everybody(404), anyAddress('nothing-here.js'), 'unknown'),
  row('GET /push-worker.js', everybody(200)),
  row('GET /ngsw-worker.js', everybody(404)),
  row('GET /ngsw.json', everybody(404)),
  row('GET /safety-worker.js', everybody(404)),
  row('GET /worker-basic.min.js', everybody(404)),
  row('GET /w/:id', everybody(200), page({}), 'public'),
  row('GET /w/:id', everybody(404), page({ privacy: PRIVATE }), 'private'),
  row('GET /videos/watch/:id', everybody(200), page({}), 'public'),
  row('GET /videos/watch/:id', everybody(404), page({ privacy: PRIVATE }), 'private'),
  row('GET /videos/embed/:id', everybody(200), page({}), 'public'),
  row('GET /videos/embed/:id', everybody(404), page({ privacy: PRIVATE }), 'private'),
  row('GET /w/:id', everybody(403), lockedPage, 'protected'),
  row('GET /videos/watch/:id', everybody(403), lockedPage, 'protected'),
  row('GET /videos/embed/:id', everybody(403), lockedPage, 'protected'),
  row('POST /w/:id/views', everybody(403), async (fixtures) => ({
    ...(await page({})(fixtures)),
    body: new URLSearchParams({ token: 'f00', currentTime: '1' }),
  })),
  ...['/w/:id', '/videos/watch/:id', '/videos/embed/:id'].flatMap((path) => [
    row(`POST ${path}`, everybody(403), wrongPassword, 'protected'),
    row(`POST ${path}`, everybody(404), page({ privacy: PRIVATE }), 'private'),
  ]),
  ...['/w/p/:id', '/videos/watch/playlist/:id', '/video-playlists/embed/:id'].flatMap((path) => [
    row(`GET ${path}`, everybody(200), playlistPage({}), 'public'),
    row(`GET ${path}`, everybody(404), playlistPage({ privacy: PRIVATE }), 'private'),
  ]),
  // With an invalid signature; valid ones are tested with the mails.
  row('GET /mail-preferences/unsubscribe/:userId/:setting/:signature', everybody(404), unsubscribe),
  row('POST /mail-preferences/unsubscribe/:userId/:setting/:signature', everybody(404), unsubscribe),
  row('GET /*', everybody(200), anyAddress('nothing/here')),
  row('GET /*', everybody(404), anyAddress('static/nothing-here'), 'of files'),
  row('GET /*', everybody(302), anyAddress('admin/overview/users/list'), 'of clients'),
  row('GET /assets/style-VERSION.css', everybody(200)),
  row('GET /assets/page-VERSION.js', everybody(200)),
  row('GET /assets/player-VERSION.js', everybody(200)),
  row('GET /assets/hls-VERSION.js', everybody(200)),

  row('GET /services/oembed', everybody(200), async (fixtures) => ({
    query: { url: `${fixtures.base}/w/${(await fixtures.video()).uuid}` },
  })),
  row(
    'GET /services/oembed',
    everybody(403),
    async (fixtures) => ({ query: { url: `${fixtures.base}/w/${(await fixtures.video({ privacy: PRIVATE })).uuid}` } }),
    'private',
  ),
  row('GET /services/redirect/accounts/:accountName', everybody(302), () => ({ params: { accountName: 'root' } })),
  row('GET /services/redirect/accounts/:accountName', everybody(404), () => ({ params: { accountName: 'nobody_here' } }), 'unknown'),

  row('GET /health/live', everybody(200)),
  row('GET /health/ready', everybody(200)),
  row('GET /api/v1/openapi.json', everybody(200)),
  row('GET /api/docs', everybody(200)),
  row('GET /api/docs/js/scalar.js', everybody(200)),
  row('ANY /api/v1/*', everybody(404), anyAddress('nothing-here')),
  row('GET /api/*', everybody(404), () => ({ headers: { accept: '*/*' }, params: { '*': 'v2/nothing-here' } })),
]
