/** Whether the hostname of a URL is this host, so that nobody else sees what is sent to it without TLS. */
export const isThisHost = (hostname: string): boolean => /^(?:localhost|127\.[\d.]+|\[::1\])$/u.test(hostname)
