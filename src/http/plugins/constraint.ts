// Route constraints by the Accept header.

import type { App } from './types.ts'

type Strategy = Parameters<App['addConstraintStrategy']>[0]
type RouteHandler = NonNullable<ReturnType<ReturnType<Strategy['storage']>['get']>>

/** Lets routes require a value that `derive` computes from the Accept header; other requests fall through to the next matching route. */
export function addConstraint(app: App, name: string, derive: (accept: string | undefined) => string | undefined): void {
  app.addConstraintStrategy({
    name,
    storage() {
      const handlers = new Map<unknown, RouteHandler>()
      return {
        get: (wanted: unknown) => handlers.get(wanted) ?? null,
        set: (wanted: unknown, handler: RouteHandler) => void handlers.set(wanted, handler),
      }
    },
    deriveConstraint: ({ headers }: { headers: { accept?: string } }) => derive(headers.accept),
    validate() {},
  })
}
