// Metrics of one server, for Prometheus: a registry of its own, with prom-client's process and Node metrics. Label values come from short
// lists of their owners: nothing that clients send becomes a label.

import type { Registry } from 'prom-client'

export interface Counter<Label extends string> {
  /** Adds to the series of these labels; values that are not above 0 are ignored. */
  add(labels: Readonly<Record<Label, string>>, by?: number): void
}

export interface Histogram<Label extends string> {
  observe(labels: Readonly<Record<Label, string>>, value: number): void
}

export interface Sample<Label extends string> {
  labels: Readonly<Record<Label, string>>
  value: number
}

interface Named<Label extends string> {
  /** By Prometheus' rules: `vireo_`, lower case, and the unit (or `total`) last. */
  name: string
  help: string
  labels: readonly Label[]
}

/** Names are unique: a second metric with the same name throws. */
export type Telemetry = Awaited<ReturnType<typeof makeTelemetry>>

/** The library is loaded here, since most servers export no metrics. */
export async function makeTelemetry() {
  const prometheus = await import('prom-client')
  const registry: Registry = new prometheus.Registry()
  prometheus.collectDefaultMetrics({ register: registry })
  const own = <Label extends string>({ name, help, labels }: Named<Label>) => ({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
  })

  return {
    counter<Label extends string>(named: Named<Label>): Counter<Label> {
      const counter = new prometheus.Counter(own(named))
      return {
        add(labels, by = 1) {
          if (by > 0) counter.inc(labels, by)
        },
      }
    },
    histogram<Label extends string>(named: Named<Label> & { buckets: readonly number[] }): Histogram<Label> {
      const histogram = new prometheus.Histogram({ ...own(named), buckets: [...named.buckets] })
      return { observe: (labels, value) => histogram.observe(labels, value) }
    },
    /** Read on each scrape; omitted if it is unknown, or cannot be read. */
    gauge<Label extends string>(
      gauge: Named<Label> & { read: () => readonly Sample<Label>[] | undefined | Promise<readonly Sample<Label>[] | undefined> },
    ) {
      const { read, ...named } = gauge
      new prometheus.Gauge({
        ...own(named),
        async collect() {
          const samples = await Promise.resolve()
            .then(read)
            .catch(() => undefined)
          this.reset()
          // Without labels it would show 0.
          if (named.labels.length === 0) this.remove()
          for (const { labels, value } of samples ?? []) this.set(labels, value)
        },
      })
    },
    contentType: registry.contentType,
    /** All metrics in the text format of Prometheus. */
    text() {
      return registry.metrics()
    },
  }
}
