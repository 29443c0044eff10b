// Cookie of a seat, or of the teacher's key, for a day. It shows nothing.
// A session that begins after a reload finds seat and key in its cookies.
export default function ({ data }) {
  const secure = window.location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${data.name}=${data.value}; Path=/; Max-Age=86400; SameSite=Strict${secure}`;
}
