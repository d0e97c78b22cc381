// Starts the player: HLS by the browser itself or by hls.js, else the web video that the page names as its source.

for (const video of document.querySelectorAll('video[data-hls]')) {
  const native = video.canPlayType('application/vnd.apple.mpegurl') !== ''
  const Hls = window.Hls
  if (!native && Hls?.isSupported()) attach(video, Hls)
}

function attach(video, Hls) {
  const fallback = video.querySelector('source[data-fallback]')
  const hls = new Hls({ enableWorker: false, capLevelToPlayerSize: true })
  for (const source of video.querySelectorAll('source')) source.remove()
  let recovered = false
  hls.on(Hls.Events.ERROR, (_event, data) => {
    if (!data.fatal) return
    if (data.type === Hls.ErrorTypes.MEDIA_ERROR && !recovered) {
      recovered = true
      hls.recoverMediaError()
      return
    }
    hls.destroy()
    if (fallback) {
      video.src = fallback.src
      video.load()
    } else {
      video.dispatchEvent(new Event('error'))
    }
  })
  hls.loadSource(video.dataset.hls)
  hls.attachMedia(video)
}

for (const video of document.querySelectorAll('video')) {
  const start = Number.parseFloat(new URLSearchParams(location.search).get('start') ?? '')
  if (start > 0) video.addEventListener('loadedmetadata', () => (video.currentTime = start), { once: true })
}
