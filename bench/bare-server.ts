// The yardstick: Fastify with bare routes that answer prepared bytes. Run by bench/http.ts, which sends the answers.

import Fastify from 'fastify'

export interface PreparedAnswer {
  path: string
  contentType: string
  /** Base64. */
  body: string
}

process.once('message', async (answers: PreparedAnswer[]) => {
  const app = Fastify()
  for (const { path, contentType, body } of answers) {
    const bytes = Buffer.from(body, 'base64')
    app.get(path, (_request, reply) => reply.type(contentType).send(bytes))
  }
  process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }))
})
process.once('disconnect', () => process.exit(0))
