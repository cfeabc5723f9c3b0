"""A page taken apart with the standard library's parser: elements, texts, links, forms."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
# Shapes in a drawing are closed by themselves.
SHAPES = {"path", "rect", "circle"}


@dataclass
class Element:
    """One element with what is in it."""

    name: str
    attributes: dict[str, str]
    children: list["Element | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its text, blanks folded."""
        parts = (child if isinstance(child, str) else child.text for child in self.children)
        return " ".join("".join(parts).split())

    def all(self, name: str = "", /, **wanted: str) -> Iterator["Element"]:
        """The elements below with this name and these attributes (`class_` is one of the classes)."""
        for child in self.children:
            if isinstance(child, Element):
                if child.is_like(name, wanted):
                    yield child
                yield from child.all(name, **wanted)

    def one(self, name: str = "", /, **wanted: str) -> "Element":
        """The only such element."""
        found = list(self.all(name, **wanted))
        assert len(found) == 1, f"{len(found)} elements {name} {wanted}"
        return found[0]

    def is_like(self, name: str, wanted: dict[str, str]) -> bool:
        """Whether it has the name and the attributes."""
        if name and self.name != name:
            return False
        for key, value in wanted.items():
            if key == "class_":
                if value not in self.attributes.get("class", "").split():
                    return False
            elif self.attributes.get(key.replace("_", "-")) != value:
                return False
        return True


@dataclass(frozen=True)
class Form:
    """What a browser would send."""

    action: str
    fields: dict[str, str]


class Page(Element):
    """An answer that is a page."""

    def __init__(self, answer: httpx.Response) -> None:
        super().__init__("#page", {})
        self.answer = answer
        self.html = answer.text
        builder = _Builder(self)
        builder.feed(answer.text)
        builder.close()
        assert builder.open == [self], f"not closed: {[one.name for one in builder.open]}"

    @property
    def location(self) -> str:
        """Where it leads to."""
        return self.answer.headers["location"]

    def links(self) -> list[str]:
        """Everything that a browser would ask for from here; what a form posts to is not among it."""
        return [
            element.attributes[key]
            for element in self.all()
            for key in ("href", "src", "action", "data-live")
            if key in element.attributes and element.attributes.get("method") != "post"
        ]

    def form(self, action: str) -> Form:
        """The form whose action ends so, with the values that stand in it."""
        forms = [
            f for f in self.all("form") if f.attributes["action"].partition("?")[0].endswith(action)
        ]
        assert forms, f"no form to {action}"
        fields = {
            one.attributes["name"]: one.attributes.get("value", "")
            for one in forms[0].all("input")
            if one.attributes.get("type") != "checkbox" and "name" in one.attributes
        }
        return Form(forms[0].attributes["action"], fields)

    def says(self, words: str) -> bool:
        """Whether the words stand somewhere on it."""
        return words in self.text


class _Builder(HTMLParser):
    def __init__(self, top: Element) -> None:
        super().__init__()
        self.open: list[Element] = [top]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SHAPES, f"<{tag}/> closes nothing in HTML"
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> inside <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)
