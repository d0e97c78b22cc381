// Feeds: public without authentication; that of subscriptions opens by the token in its URL.

import type { RouteFixtures } from '../fixtures.ts'
import { everybody, row } from '../row.ts'

const PRIVATE = 3
const inXml = { format: 'xml' }

const commentsOf = (columns: Record<string, unknown>) => async (fixtures: RouteFixtures) => ({
  params: inXml,
  query: { videoId: (await fixtures.video(columns)).uuid },
})

const subscriptions = (token: (made: string) => string) => async (fixtures: RouteFixtures) => {
  const answer = await fixtures.send('user', '/api/v1/users/scoped-tokens', {})
  const { feedToken } = (await answer.json()) as { feedToken: string }
  return { params: inXml, query: { accountId: String(fixtures.users.user.accountId), token: token(feedToken) } }
}

export const feedRows = [
  row('GET /feeds/videos.:format', everybody(200), () => ({ params: inXml })),
  row('GET /feeds/videos.:format', everybody(401), () => ({ params: inXml, query: { include: '1' } }), 'of the staff'),
  row('GET /feeds/video-comments.:format', everybody(200), commentsOf({}), 'of a public video'),
  row('GET /feeds/video-comments.:format', everybody(401), commentsOf({ privacy: PRIVATE }), 'of a private video'),
  row('GET /feeds/subscriptions.:format', everybody(200), subscriptions(String)),
  row(
    'GET /feeds/subscriptions.:format',
    everybody(403),
    subscriptions((token) => `${token}0`),
    'with another token',
  ),
  row('GET /feeds/podcast/videos.xml', everybody(200), (fixtures) => ({
    query: { videoChannelId: String(fixtures.users.user.channelId) },
  })),
]
