// What this process counted since its start, for whoever exports it. Each counter has a few labels, whose values its owner
// takes from short lists: nothing that clients send becomes a label.

export type Labels = Readonly<Record<string, string>>

export interface Counter<L extends Labels> {
  /** Adds to the series of these labels; what is not a number above 0 counts for nothing. */
  add(labels: L, by?: number): void
}

export interface CounterReading {
  /** As exporters name it, such as `vireo_playback_errors_total`. */
  name: string
  help: string
  series: { labels: Labels; value: number }[]
}

export interface Counters {
  /** Throws when there is one of that name already. */
  make<L extends Labels>(counter: { name: string; help: string }): Counter<L>
  read(): CounterReading[]
}

export function makeCounters(): Counters {
  const all = new Map<string, { help: string; series: Map<string, { labels: Labels; value: number }> }>()

  return {
    make({ name, help }) {
      if (all.has(name)) throw new Error(`There are two counters ${name}.`)
      const series = new Map<string, { labels: Labels; value: number }>()
      all.set(name, { help, series })
      return {
        add(labels, by = 1) {
          if (!(by > 0)) return
          const key = JSON.stringify(Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1)))
          const one = series.get(key) ?? { labels, value: 0 }
          one.value = Math.min(one.value + by, Number.MAX_VALUE)
          series.set(key, one)
        },
      }
    },

    read: () =>
      [...all].map(([name, { help, series }]) => ({
        ...{ name, help },
        series: [...series.values()].map(({ labels, value }) => ({ labels, value })),
      })),
  }
}
