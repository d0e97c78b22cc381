// Parses the Prometheus text format (version 0.0.4) as strictly as `promtool check metrics`, and throws at errors.

export interface MetricSample {
  name: string
  labels: Record<string, string>
  value: number
}

export interface MetricFamily {
  type: string
  help: string
  samples: MetricSample[]
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const TYPES = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped'])
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/
const VALUE = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|NaN|[+-]Inf)$/i
const SUFFIXES: Record<string, RegExp> = { histogram: /_(?:bucket|sum|count)$/, summary: /_(?:sum|count)$/ }

/** The metric families by name. */
export function parseMetrics(text: string): Map<string, MetricFamily> {
  if (text !== '' && !text.endsWith('\n')) throw new Error('The last line does not end.')
  const families = new Map<string, MetricFamily>()
  const seen = new Set<string>()
  let current: string | undefined
  for (const line of text.split('\n')) {
    if (line === '') continue
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line)
    if (comment) {
      const [, kind, name = '', rest = ''] = comment
      if (!NAME.test(name)) throw new Error(`A bad name: ${line}`)
      if (kind === 'HELP' && families.has(name)) throw new Error(`${name} is there twice.`)
      const family = families.get(name) ?? { type: 'untyped', help: '', samples: [] }
      if (kind === 'HELP') family.help = rest
      else if (!TYPES.has(rest)) throw new Error(`A bad type: ${line}`)
      else family.type = rest
      families.set(name, family)
      current = name
      continue
    }
    const family = current === undefined ? undefined : families.get(current)
    if (!family || current === undefined) throw new Error(`A sample of nothing: ${line}`)
    const sample = parseSample(line)
    if (sample.name.replace(SUFFIXES[family.type] ?? /$^/, '') !== current) throw new Error(`Not of ${current}: ${line}`)
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
    if (seen.has(key)) throw new Error(`A series is there twice: ${line}`)
    seen.add(key)
    family.samples.push(sample)
  }
  for (const [name, family] of families) checkFamily(name, family)
  return families
}

/** The value of a series; undefined when there is none. */
export function seriesValue(families: Map<string, MetricFamily>, name: string, labels: Record<string, string> = {}) {
  const found = families
    .get(name)
    ?.samples.filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
  if (found && found.length > 1) throw new Error(`${name} has ${found.length} such series.`)
  return found?.[0]?.value
}

function parseSample(line: string): MetricSample {
  const [, name = '', inner = '', text = ''] = SAMPLE.exec(line) ?? []
  if (name === '' || !VALUE.test(text)) throw new Error(`No sample: ${line}`)
  const labels: Record<string, string> = {}
  for (let rest = inner; rest !== ''; ) {
    const found = LABEL.exec(rest)
    if (!found) throw new Error(`Bad labels: ${line}`)
    const [all, label = '', value = ''] = found
    if (label in labels) throw new Error(`A label twice: ${line}`)
    labels[label] = value.replaceAll(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter))
    rest = rest.slice(all.length)
  }
  return { name, labels, value: Number(text.replace(/Inf$/, 'Infinity')) }
}

function checkFamily(name: string, { type, help, samples }: MetricFamily): void {
  if (help === '') throw new Error(`${name} says nothing of itself.`)
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} counts backwards.`)
  if (type !== 'histogram') return
  const series = new Map<string, { bounds: number[]; counts: number[]; count: number | undefined }>()
  for (const sample of samples) {
    const { le, ...labels } = sample.labels
    const key = JSON.stringify(Object.entries(labels).sort())
    const one = series.get(key) ?? { bounds: [], counts: [], count: undefined }
    series.set(key, one)
    if (sample.name.endsWith('_count')) one.count = sample.value
    if (!sample.name.endsWith('_bucket')) continue
    one.bounds.push(le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le))
    one.counts.push(sample.value)
  }
  for (const { bounds, counts, count } of series.values()) {
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY || !isRising(bounds)) throw new Error(`Bad bounds of ${name}.`)
    if (!isRising(counts) || counts.at(-1) !== count) throw new Error(`Bad buckets of ${name}.`)
  }
}

const isRising = (values: number[]): boolean => values.every((value, index) => value >= (values[index - 1] ?? value))
