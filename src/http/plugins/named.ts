// Names for the parts of the application.

/**
 * Names a plugin for Fastify. Without a name, Fastify searches all loaded modules for one, which is slow if they are many or behind a
 * proxy, as in the tests.
 */
export const named = <P extends object>(name: string, part: P): P => Object.assign(part, { [Symbol.for('fastify.display-name')]: name })
